// SPDX-License-Identifier: BSD-3-Clause
// Describes the devices: the host itself, and a device described by a profile (NNAPI_HOST_PROFILE).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/host_runtime/device_profile.h"
#include "lib/host_runtime/model.h"

namespace nnapi_convert::host {

// The device types that ANeuralNetworksDevice_getType returns.
enum class DeviceType : int32_t { kOther = 1, kCpu = 2, kGpu = 3, kAccelerator = 4 };

class Device {
 public:
  Device() = default;  // the host
  explicit Device(DeviceRules profile) : profile_(std::make_unique<const DeviceRules>(std::move(profile))) {}

  const char* name() const;
  const char* version() const;
  DeviceType type() const;
  int feature_level() const;
  // Returns why the device does not support the operation or a model that the operation refers to; empty if it does.
  std::string refusal(const Model& model, const Operation& operation) const;

 private:
  std::unique_ptr<const DeviceRules> profile_;  // null: the host, which supports all operations
};

}  // namespace nnapi_convert::host
