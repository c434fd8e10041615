// SPDX-License-Identifier: BSD-3-Clause
// Holds a compilation: a model, its devices and the options for running it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/host_runtime/cache_file.h"
#include "lib/host_runtime/device.h"
#include "lib/host_runtime/direction.h"
#include "lib/host_runtime/model.h"
#include "lib/host_runtime/program.h"

namespace nnapi_convert::host {

// Turns a number of nanoseconds of the C interface into a duration; cuts numbers that are too large.
std::chrono::nanoseconds to_duration(uint64_t nanoseconds);

class Compilation {
 public:
  // If `devices` is empty, the runtime chooses.
  Compilation(std::shared_ptr<const Model> model, std::vector<const Device*> devices);

  void set_preference(int32_t preference);
  void set_priority(int32_t priority);
  void set_timeout(uint64_t nanoseconds);
  void set_caching(const std::string& directory, const uint8_t* token);
  void finish();

  bool finished() const { return finished_; }
  // Returns whether the caller chose exactly one device. NNAPI needs this for timeouts and timing, for example.
  bool on_one_chosen_device() const { return devices_.size() == 1; }
  const Model& model() const { return *model_; }
  const Program& program() const { return *program_; }  // only after finish()
  // Returns the preferred alignment of the memory of input or output `index`, in bytes.
  uint32_t preferred_alignment(Direction direction, uint32_t index) const;
  // Returns the number of bytes of which the length of that input's or output's memory should be a multiple.
  uint32_t preferred_padding(Direction direction, uint32_t index) const;

 private:
  void require_unfinished(const char* what) const;
  void check_devices() const;
  void check_index(const char* what, Direction direction, uint32_t index) const;

  std::shared_ptr<const Model> model_;
  std::vector<const Device*> devices_;
  std::chrono::nanoseconds timeout_ = std::chrono::nanoseconds::max();
  std::optional<CacheFile> cache_;
  bool finished_ = false;
  std::unique_ptr<const Program> program_;
};

}  // namespace nnapi_convert::host
