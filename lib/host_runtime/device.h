// Devices: the host itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/host_runtime/model.h"

namespace nnapi_convert::host {

// Kinds of devices, as getType answers them.
enum class DeviceType : int32_t { kOther = 1, kCpu = 2, kGpu = 3, kAccelerator = 4 };

class Device {
 public:
  Device(std::string name, std::string version, DeviceType type);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  DeviceType type() const { return type_; }
  int feature_level() const;
  // Empty, or why the device does not take the operation.
  std::string refusal(const Model& model, const Operation& operation) const;

 private:
  std::string name_, version_;
  DeviceType type_;
};

}  // namespace nnapi_convert::host
