// SPDX-License-Identifier: BSD-3-Clause
// The C interface: devices and feature levels.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "lib/host_runtime/api.h"

using namespace nnapi_convert::host;

namespace nnapi_convert::host {
namespace {

// Returns the device of NNAPI_HOST_PROFILE; null if the variable is not set, or, after a logged sentence, if its file
// is no profile. The devices are never freed, as callers keep pointers to them.
ANeuralNetworksDevice* profiled_device() {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<ANeuralNetworksDevice>> known;
  const char* path = std::getenv("NNAPI_HOST_PROFILE");
  if (!path || !*path) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, is_new] = known.try_emplace(path);
  if (is_new) {
    guarded_code([&, device = &entry->second] {
      *device = std::make_unique<ANeuralNetworksDevice>(ANeuralNetworksDevice{Device(read_profile(path))});
    });
  }
  return entry->second.get();
}

std::vector<ANeuralNetworksDevice*> devices() {
  static ANeuralNetworksDevice host;
  std::vector<ANeuralNetworksDevice*> result = {&host};
  if (ANeuralNetworksDevice* profiled = profiled_device()) result.push_back(profiled);
  return result;
}

}  // namespace

void require_level(const char* function) {
  const int level = offered_feature_level();
  if (level == kHighestFeatureLevel) return;
  if (level_of_function(function) <= level) return;
  fail(ResultCode::BAD_STATE, "{}: needs feature level {}, {} is offered", function, level_of_function(function),
       level);
}

std::vector<const Device*> chosen_devices(const ANeuralNetworksDevice* const* given, uint32_t count) {
  require(given, "devices");
  if (count == 0) bad_data("devices: none found, at least one needed");
  std::vector<const Device*> result;
  for (uint32_t i = 0; i < count; ++i) {
    require(given[i], "devices");
    const Device* device = &given[i]->device;
    if (std::find(result.begin(), result.end(), device) != result.end()) {
      bad_data("devices: device {} is listed twice", i);
    }
    result.push_back(device);
  }
  return result;
}

}  // namespace nnapi_convert::host

int ANeuralNetworks_getDeviceCount(uint32_t* count) {
  return guarded(__func__, [&] {
    require(count, "getDeviceCount");
    *count = static_cast<uint32_t>(devices().size());
  });
}

int ANeuralNetworks_getDevice(uint32_t index, ANeuralNetworksDevice** device) {
  return guarded(__func__, [&] {
    require_result(device, "getDevice");
    const std::vector<ANeuralNetworksDevice*> all = devices();
    if (index >= all.size()) bad_data("getDevice: index {} found, below {} needed", index, all.size());
    *device = all[index];
  });
}

int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice* device, const char** name) {
  return guarded(__func__, [&] {
    require(device, "getName: device");
    require(name, "getName");
    *name = device->device.name();
  });
}

int ANeuralNetworksDevice_getVersion(const ANeuralNetworksDevice* device, const char** version) {
  return guarded(__func__, [&] {
    require(device, "getVersion: device");
    require(version, "getVersion");
    *version = device->device.version();
  });
}

int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice* device, int64_t* level) {
  return guarded(__func__, [&] {
    require(device, "getFeatureLevel: device");
    require(level, "getFeatureLevel");
    *level = feature_level_code(device->device.feature_level());
  });
}

int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice* device, int32_t* type) {
  return guarded(__func__, [&] {
    require(device, "getType: device");
    require(type, "getType");
    *type = static_cast<int32_t>(device->device.type());
  });
}

int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice* device, const char* extensionName,
                                              bool* isExtensionSupported) {
  return guarded(__func__, [&] {
    require(device, "getExtensionSupport: device");
    require(extensionName, "getExtensionSupport: name");
    require(isExtensionSupported, "getExtensionSupport");
    *isExtensionSupported = false;
  });
}

int ANeuralNetworksDevice_wait(const ANeuralNetworksDevice* device) {
  return guarded(__func__, [&] { require(device, "Device_wait: device"); });
}

int64_t ANeuralNetworks_getRuntimeFeatureLevel() {
  return feature_level_code(offered_feature_level());
}
