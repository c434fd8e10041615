// SPDX-License-Identifier: BSD-3-Clause
// Remembers the argument shapes that a model was used with, each with its tensors and, once compiled, its compiled
// model.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/shim/compilation.h"
#include "lib/shim/journal.h"
#include "lib/shim/tensors.h"

namespace nnapi_shim {

// One set of argument shapes. The entry starts empty; the first thread that needs it fills it under its mutex.
struct ShapeEntry {
  explicit ShapeEntry(const CallShapes& shapes);
  bool has(const CallShapes& shapes) const;

  const std::vector<int64_t> key;  // for each argument its rank, then its sizes

  std::mutex mutex;
  // A thread writes `tensors` before it sets `is_bound`, and `compiled` before it sets `is_compiled`. None of them
  // changes after that.
  CallTensors tensors;
  std::atomic<bool> is_bound{false};
  std::shared_ptr<CompiledModel> compiled;
  // For a model whose samples were run: the devices for which it is compiled, and an entry of the journal for its first
  // runs.
  DeviceChoice choice;
  std::unique_ptr<Journal> journal;
  std::atomic<uint32_t> guarded_runs{0};
  std::atomic<bool> is_compiled{false};
  // A refusal that will not change; null if there is none. The mutex guards it.
  std::unique_ptr<nnapi_shim_error> refusal;
};

// The entries, the most recently used first. A dropped entry stays alive as long as a thread runs its model.
class ShapeCache {
 public:
  // Finds the entry of these shapes, or makes it.
  std::shared_ptr<ShapeEntry> find(const CallShapes& shapes);
  // Drops the least recently used compiled entries, so that at most `most` compiled ones are left.
  void keep_compiled(size_t most);
  void drop(const ShapeEntry* entry);

 private:
  // The number of entries without a compiled model that stay. Queries make such entries; they are small.
  static constexpr size_t kMostWithout = 8;
  using Entries = std::vector<std::shared_ptr<ShapeEntry>>;
  Entries take_excess(bool is_compiled, size_t most);

  std::mutex mutex_;
  Entries entries_;
};

}  // namespace nnapi_shim
