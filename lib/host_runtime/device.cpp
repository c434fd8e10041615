// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/device.h"

#include <algorithm>

#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/feature_level.h"

namespace nnapi_convert::host {

const char* Device::name() const {
  return profile_ ? profile_->name.c_str() : "nnapi-convert-host";
}

const char* Device::version() const {
  return profile_ ? profile_->version.c_str() : "1";
}

DeviceType Device::type() const {
  return profile_ ? static_cast<DeviceType>(profile_->type) : DeviceType::kCpu;
}

int Device::feature_level() const {
  const int offered = offered_feature_level();
  return profile_ ? std::min(profile_->feature_level, offered) : offered;
}

std::string Device::refusal(const Model& model, const Operation& operation) const {
  if (!profile_) return {};
  std::string own = profile_refusal(*profile_, model, operation);
  if (!own.empty()) return own;
  for (const uint32_t index : operation.inputs) {
    const std::shared_ptr<const Model>& inner = model.operands()[index].model;
    if (!inner) continue;
    for (const Operation& part : inner->operations()) {
      const std::string refused = refusal(*inner, part);
      if (!refused.empty()) return fmt::format("in a model that it refers to, {}: {}", subject_of(part), refused);
    }
  }
  return {};
}

}  // namespace nnapi_convert::host
