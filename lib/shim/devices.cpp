// SPDX-License-Identifier: BSD-3-Clause
// Chooses devices.
#include "lib/shim/devices.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/format/crc32.h"
#include "lib/shim/name_list.h"
#include "lib/shim/nnapi_names.h"
#include "lib/shim/operation_text.h"

namespace nnapi_shim {
namespace {

constexpr int32_t kCpuType = 2, kGpuType = 3, kAcceleratorType = 4;  // ANEURALNETWORKS_DEVICE_*

const char* kind_text(int32_t kind) {
  switch (kind) {
    case NNAPI_SHIM_GPU:
      return "of the kind GPU";
    case NNAPI_SHIM_ACCELERATOR:
      return "of the kind accelerator";
    case NNAPI_SHIM_CPU:
      return "of the kind CPU";
    default:
      return "but the reference CPU";
  }
}

bool is_reference(const Device& device) {
  return std::strcmp(device.name, kReferenceDevice) == 0;
}

bool is_asked_for(const Device& device, const Options& options) {
  if (!options.device.empty()) return options.device == device.name;
  switch (options.device_kind) {
    case NNAPI_SHIM_GPU:
      return device.type == kGpuType;
    case NNAPI_SHIM_ACCELERATOR:
      return device.type == kAcceleratorType;
    case NNAPI_SHIM_CPU:
      return device.type == kCpuType;
    case NNAPI_SHIM_NOT_REFERENCE_CPU:
      return !is_reference(device);
    default:
      return true;
  }
}

int fail_device_call(const char* function, uint32_t index, int code, nnapi_shim_error* error) {
  return fail_with(error, NNAPI_SHIM_NO_DEVICE, code, "%s failed for NNAPI device %u: %s", function, index,
                   result_name(code));
}

int describe_device(const NnapiLibrary& library, uint32_t index, Device* device, nnapi_shim_error* error) {
  int code = library.ANeuralNetworks_getDevice(index, &device->handle);
  if (code != 0 || !device->handle) return fail_device_call("ANeuralNetworks_getDevice", index, code, error);
  code = library.ANeuralNetworksDevice_getName(device->handle, &device->name);
  if (code != 0 || !device->name) return fail_device_call("ANeuralNetworksDevice_getName", index, code, error);
  // Type, version and feature level may be missing.
  if (!library.ANeuralNetworksDevice_getType ||
      library.ANeuralNetworksDevice_getType(device->handle, &device->type) != 0) {
    device->type = 0;
  }
  if (!library.ANeuralNetworksDevice_getVersion ||
      library.ANeuralNetworksDevice_getVersion(device->handle, &device->version) != 0 || !device->version) {
    device->version = "";
  }
  if (!library.ANeuralNetworksDevice_getFeatureLevel ||
      library.ANeuralNetworksDevice_getFeatureLevel(device->handle, &device->feature_level_code) != 0) {
    device->feature_level_code = 0;
  }
  // Android 10's nnapi-reference gives 10000, the API level of a version to come.
  device->feature_level = std::min(level_from_code(device->feature_level_code), library.feature_level);
  return NNAPI_SHIM_OK;
}

void add_device(const Device& device, DeviceChoice* choice) {
  choice->handles.push_back(device.handle);
  if (!choice->names.empty()) choice->names += ", ";
  choice->names += device.name;
}

int fail_no_device(const NnapiLibrary& library, const Options& options, const AllowedDevices& allowed,
                   nnapi_shim_error* error) {
  if (!allowed.forbidden.empty()) {
    return fail(error, NNAPI_SHIM_NO_DEVICE, "no NNAPI device is left: %.400s", allowed.forbidden.c_str());
  }
  std::vector<Device> devices;
  list_devices(library, &devices, nullptr);
  NameList names;
  for (const Device& device : devices) names.add("%s", device.name);
  if (!options.device.empty()) {
    return fail(error, NNAPI_SHIM_NO_DEVICE, "there is no NNAPI device named %s, this phone has: %s",
                options.device.c_str(), names.count() > 0 ? names.text() : "none");
  }
  return fail(error, NNAPI_SHIM_NO_DEVICE, "there is no NNAPI device %s, this phone has: %s",
              kind_text(options.device_kind), names.count() > 0 ? names.text() : "none");
}

int check_one_device(const DeviceChoice& choice, const Options& options, nnapi_shim_error* error) {
  if (!options.needs_one_device() || choice.handles.size() == 1) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
              "options: timeouts and timing need exactly one device, found: %s; name one in `device`",
              choice.handles.empty() ? "that NNAPI chooses" : choice.names.c_str());
}

// Adds the reference CPU to the choice. Returns false if there is none or it is already chosen.
bool add_reference(const NnapiLibrary& library, DeviceChoice* choice) {
  std::vector<Device> devices;
  if (list_devices(library, &devices, nullptr) != NNAPI_SHIM_OK) return false;
  for (const Device& device : devices) {
    if (!is_reference(device)) continue;
    for (const ANeuralNetworksDevice* chosen : choice->handles) {
      if (chosen == device.handle) return false;
    }
    add_device(device, choice);
    return true;
  }
  return false;
}

}  // namespace

int list_devices(const NnapiLibrary& library, std::vector<Device>* devices, nnapi_shim_error* error) {
  devices->clear();
  if (!library.ANeuralNetworks_getDeviceCount || !library.ANeuralNetworks_getDevice ||
      !library.ANeuralNetworksDevice_getName) {
    return fail(error, NNAPI_SHIM_TOO_OLD,
                "NNAPI's devices can't be listed or chosen below feature level 3 (Android 10), found level %u; leave "
                "the choice to NNAPI",
                library.feature_level);
  }
  uint32_t count = 0;
  const int code = library.ANeuralNetworks_getDeviceCount(&count);
  if (code != 0) {
    return fail_with(error, NNAPI_SHIM_NO_DEVICE, code, "ANeuralNetworks_getDeviceCount failed: %s", result_name(code));
  }
  for (uint32_t i = 0; i < count; ++i) {
    Device device;
    const int status = describe_device(library, i, &device, error);
    if (status != NNAPI_SHIM_OK) return status;
    devices->push_back(device);
  }
  return NNAPI_SHIM_OK;
}

int list_allowed_devices(const NnapiLibrary& library, const Options& options, const ModelView* view,
                         AllowedDevices* allowed, nnapi_shim_error* error) {
  *allowed = AllowedDevices();
  std::vector<Device> devices;
  const int status = list_devices(library, &devices, error);
  for (const Device& device : devices) {
    if (!is_asked_for(device, options)) continue;
    const char* reason = options.rules().find(device.name, device.version, view);
    if (!reason) {
      allowed->devices.push_back(device);
      continue;
    }
    char text[400];
    std::snprintf(text, sizeof text, "%s%.50s (driver %.50s) is not used, as its driver is known to be wrong: %.200s",
                  allowed->forbidden.empty() ? "" : "; ", device.name, device.version, reason);
    allowed->forbidden += text;
  }
  return status;
}

int choose_devices(const NnapiLibrary& library, const Options& options, const ModelView* view, DeviceChoice* choice,
                   nnapi_shim_error* error) {
  *choice = DeviceChoice();
  const bool can_choose = library.ANeuralNetworksCompilation_createForDevices != nullptr;
  AllowedDevices allowed;
  // A support library lacks ANeuralNetworksCompilation_create: there, "any device" names all devices below.
  if (options.takes_any_device() && library.ANeuralNetworksCompilation_create) {
    const bool is_limited = can_choose && !options.rules().is_empty() &&
                            list_allowed_devices(library, options, view, &allowed, nullptr) == NNAPI_SHIM_OK &&
                            !allowed.forbidden.empty();
    if (!is_limited) return check_one_device(*choice, options, error);
  }
  if (!can_choose) {
    return fail(error, NNAPI_SHIM_TOO_OLD,
                "NNAPI can't compile for a chosen device below feature level 3 (Android 10), found level %u; leave the "
                "choice to NNAPI",
                library.feature_level);
  }
  const int status = list_allowed_devices(library, options, view, &allowed, error);
  if (status != NNAPI_SHIM_OK) return status;
  for (const Device& device : allowed.devices) add_device(device, choice);
  if (choice->handles.empty()) return fail_no_device(library, options, allowed, error);
  choice->forbidden = std::move(allowed.forbidden);
  return check_one_device(*choice, options, error);
}

namespace {

// Shortens a long text, as journals hold texts of limited length. A checksum at its end tells such texts apart.
void shorten(std::string* text) {
  constexpr size_t kMost = 200;
  if (text->size() <= kMost) return;
  char sum[16];
  std::snprintf(sum, sizeof sum, "...%08x", nnapi_convert::crc32(text->data(), text->size()));
  *text = text->substr(0, kMost) + sum;
}

// Sets the key of a choice of these devices.
void set_key(const std::vector<Device>& devices, const char* start, DeviceChoice* choice) {
  choice->key = start;
  for (const Device& device : devices) {
    const char* separator = &device == &devices.front() ? "" : ", ";
    choice->key = choice->key + separator + device.name;
    choice->version = choice->version + separator + device.version;
  }
  shorten(&choice->key);
  shorten(&choice->version);
}

DeviceChoice choice_of(const Device& device, bool may_add_reference) {
  DeviceChoice choice;
  add_device(device, &choice);
  set_key({device}, "", &choice);
  choice.may_add_reference = may_add_reference && !is_reference(device);
  choice.is_reference = is_reference(device);
  return choice;
}

}  // namespace

int list_choices(const NnapiLibrary& library, const Options& options, const ModelView* view,
                 std::vector<DeviceChoice>* choices, nnapi_shim_error* error) {
  choices->assign(1, DeviceChoice());
  const int status = choose_devices(library, options, view, &choices->front(), error);
  if (status != NNAPI_SHIM_OK) return status;
  AllowedDevices allowed;
  if (list_allowed_devices(library, options, view, &allowed, nullptr) != NNAPI_SHIM_OK) {
    choices->front().key = "any";
    return NNAPI_SHIM_OK;
  }
  const std::vector<Device>& asked = allowed.devices;
  const bool is_any = options.takes_any_device();
  const bool can_choose = library.ANeuralNetworksCompilation_createForDevices != nullptr;
  if (asked.size() == 1) {
    set_key(asked, "", &choices->front());
    choices->front().is_reference = is_reference(asked[0]);
    return NNAPI_SHIM_OK;
  }
  set_key(asked, is_any ? "any of " : "", &choices->front());
  if (!can_choose || options.needs_one_device()) return NNAPI_SHIM_OK;
  for (const Device& device : asked) {
    if (!is_reference(device)) choices->push_back(choice_of(device, is_any));
  }
  // If there is only one device beside the reference CPU, choosing it alone would repeat the first choice.
  if (is_any && choices->size() == 2) choices->pop_back();
  for (const Device& device : asked) {
    if (is_any && is_reference(device)) choices->push_back(choice_of(device, false));
  }
  for (DeviceChoice& choice : *choices) choice.forbidden = allowed.forbidden;
  return NNAPI_SHIM_OK;
}

int query_support(const NnapiLibrary& library, const DeviceChoice& choice, const ANeuralNetworksModel* model,
                  size_t operation_count, std::vector<int8_t>* supported, nnapi_shim_error* error) {
  supported->assign(operation_count, -1);
  if (!library.ANeuralNetworksModel_getSupportedOperationsForDevices) return NNAPI_SHIM_OK;
  DeviceChoice all;
  if (choice.handles.empty()) {
    std::vector<Device> devices;
    if (list_devices(library, &devices, nullptr) != NNAPI_SHIM_OK) return NNAPI_SHIM_OK;
    for (const Device& device : devices) add_device(device, &all);
  }
  const DeviceChoice& asked = choice.handles.empty() ? all : choice;
  // A std::vector<int8_t> takes the flags: std::vector<bool> has no array of bool.
  static_assert(sizeof(bool) == sizeof(int8_t), "NNAPI writes bool where int8_t is read");
  const int code = library.ANeuralNetworksModel_getSupportedOperationsForDevices(
      model, asked.handles.data(), static_cast<uint32_t>(asked.handles.size()),
      reinterpret_cast<bool*>(supported->data()));
  if (code != 0) {
    return fail_with(error, NNAPI_SHIM_REFUSED, code,
                     "ANeuralNetworksModel_getSupportedOperationsForDevices failed for %s: %s", asked.names.c_str(),
                     result_name(code));
  }
  return NNAPI_SHIM_OK;
}

int complete_devices(const NnapiLibrary& library, const Options& options, const SubgraphView& main,
                     const ANeuralNetworksModel* model, DeviceChoice* choice, nnapi_shim_error* error) {
  if (choice->handles.empty()) return NNAPI_SHIM_OK;
  std::vector<int8_t> supported;
  const int status = query_support(library, *choice, model, main.operations.size(), &supported, error);
  if (status != NNAPI_SHIM_OK) return status;
  NameList refused;
  for (size_t i = 0; i < supported.size(); ++i) {
    if (supported[i] == 0) refused.add("%s", OperationText(main.operations[i], i).text());
  }
  if (refused.count() == 0) return NNAPI_SHIM_OK;
  const size_t total = supported.size();
  const bool is_kind = options.device.empty() && options.device_kind != NNAPI_SHIM_NOT_REFERENCE_CPU &&
                       options.device_kind != NNAPI_SHIM_ANY_DEVICE;
  const bool may_add = (is_kind || choice->may_add_reference) && !options.needs_one_device() &&
                       static_cast<size_t>(refused.count()) < total;
  if (may_add && add_reference(library, choice)) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_REFUSED,
              "%s can't run %d of the model's %zu operations: %s; choose another device, or leave the choice to NNAPI",
              choice->names.c_str(), refused.count(), total, refused.text());
}

}  // namespace nnapi_shim
