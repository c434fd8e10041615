// A model, the devices that run it, and how they shall.
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

// Of a number of nanoseconds in the C interface.
std::chrono::nanoseconds to_duration(uint64_t nanoseconds);

class Compilation {
 public:
  // Without devices the runtime chooses.
  Compilation(std::shared_ptr<const Model> model, std::vector<const Device*> devices);

  void set_preference(int32_t preference);
  void set_priority(int32_t priority);
  void set_timeout(uint64_t nanoseconds);
  void set_caching(const std::string& directory, const uint8_t* token);
  void finish();

  bool finished() const { return finished_; }
  // Several functions need this: NNAPI answers for one device only where the caller has chosen it.
  bool on_one_chosen_device() const { return devices_.size() == 1; }
  const Model& model() const { return *model_; }
  const Program& program() const { return *program_; }  // when finished
  // What input or output `index` of the model should be aligned to, in bytes.
  uint32_t preferred_alignment(Direction direction, uint32_t index) const;
  // What the length of its memory should be a multiple of.
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
