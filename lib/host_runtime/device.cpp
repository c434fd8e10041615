#include "lib/host_runtime/device.h"

#include "lib/host_runtime/feature_level.h"

namespace nnapi_convert::host {

Device::Device(std::string name, std::string version, DeviceType type)
    : name_(std::move(name)), version_(std::move(version)), type_(type) {}

int Device::feature_level() const {
  return offered_feature_level();
}

std::string Device::refusal(const Model& /*model*/, const Operation& /*operation*/) const {
  return {};
}

}  // namespace nnapi_convert::host
