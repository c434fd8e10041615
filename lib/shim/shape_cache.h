// The shapes of arguments that a model was used with, each with its tensors and, once it ran, its compiled model.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/shim/compilation.h"

namespace nnapi_shim {

// One set of argument shapes. Made empty; filled under its mutex, by the thread that needs it first.
struct ShapeEntry {
  ShapeEntry(const nnapi_shim_shape* arguments, uint32_t argument_count);
  bool has(const nnapi_shim_shape* arguments, uint32_t argument_count) const;

  const std::vector<int64_t> key;  // of each argument its rank, then its sizes

  std::mutex mutex;
  // What stands before a flag is written before the flag is set, and not changed after.
  std::vector<nnapi_shim_tensor> inputs, outputs;
  std::atomic<bool> is_bound{false};
  std::shared_ptr<CompiledModel> compiled;
  std::atomic<bool> is_compiled{false};
  // Under the mutex: a refusal that will not change. Status NNAPI_SHIM_OK if there is none.
  std::unique_ptr<nnapi_shim_error> refusal;
};

// The entries, those used last first. Entries that are dropped stay alive as long as somebody runs them.
class ShapeCache {
 public:
  // Finds the entry or makes it.
  std::shared_ptr<ShapeEntry> find(const nnapi_shim_shape* arguments, uint32_t argument_count);
  // Drops compiled entries used least recently, so that at most `most` are left.
  void keep_compiled(size_t most);
  void drop(const ShapeEntry* entry);

 private:
  // Entries without a compiled model are small; queries make them.
  static constexpr size_t kMostWithout = 8;
  using Entries = std::vector<std::shared_ptr<ShapeEntry>>;
  Entries take_excess(bool is_compiled, size_t most);

  std::mutex mutex_;
  Entries entries_;
};

}  // namespace nnapi_shim
