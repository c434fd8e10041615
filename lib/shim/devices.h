// SPDX-License-Identifier: BSD-3-Clause
// Lists NNAPI's devices, chooses devices by the options, and asks which operations they support.
#pragma once

#include <string>
#include <vector>

#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_library.h"
#include "lib/shim/options.h"

namespace nnapi_shim {

// NNAPI's own CPU implementation, which supports every operation but is slow.
constexpr const char* kReferenceDevice = "nnapi-reference";

struct Device {
  ANeuralNetworksDevice* handle = nullptr;
  const char* name = "";     // owned by NNAPI; stays valid
  const char* version = "";  // owned by NNAPI; stays valid
  int32_t type = 0;          // ANEURALNETWORKS_DEVICE_*
  int64_t feature_level_code = 0;
  uint32_t feature_level = 0;  // the level that apps can use: not above NNAPI's own
};

// Lists all devices. Returns NNAPI_SHIM_TOO_OLD below feature level 3, where NNAPI can't list devices.
int list_devices(const NnapiLibrary& library, std::vector<Device>* devices, nnapi_shim_error* error);

// The chosen devices; without any, NNAPI chooses.
struct DeviceChoice {
  std::vector<ANeuralNetworksDevice*> handles;
  std::string names;  // separated by ", "
  // The names and driver versions under which verdicts are kept, also for a choice that is left to NNAPI.
  std::string key, version;
  bool may_add_reference = false;  // the reference CPU may run what the devices don't support
  bool is_reference = false;       // the choice is the reference CPU alone
  std::string forbidden;           // a text that tells which devices driver rules left out, and why; empty: none
};

// The devices that the options ask for and that no driver rule keeps away.
struct AllowedDevices {
  std::vector<Device> devices;
  std::string forbidden;  // as DeviceChoice::forbidden
};

// Lists the allowed devices for the model of `view`; null: for every model. Fails as list_devices() does.
int list_allowed_devices(const NnapiLibrary& library, const Options& options, const ModelView* view,
                         AllowedDevices* allowed, nnapi_shim_error* error);

// Chooses the devices that `options` ask for and that the options' driver rules allow for the model of `view`; a null
// `view` stands for every model. NNAPI_SHIM_NO_DEVICE if no device matches, NNAPI_SHIM_BAD_ARGUMENT if timeouts or
// timing are asked for and the choice is not exactly one device, NNAPI_SHIM_TOO_OLD if NNAPI can't compile for chosen
// devices. "Any device" leaves the choice to NNAPI, unless a rule forbids a device, or a support library is used, which
// can't choose: then it means all devices that are allowed.
int choose_devices(const NnapiLibrary& library, const Options& options, const ModelView* view, DeviceChoice* choice,
                   nnapi_shim_error* error);

// Lists the choices to try, one after the other, until one can be trusted: the options' own choice; if that is not one
// device, each of its devices alone; if the options leave the choice to NNAPI, the reference CPU at the end. Fails as
// choose_devices() does.
int list_choices(const NnapiLibrary& library, const Options& options, const ModelView* view,
                 std::vector<DeviceChoice>* choices, nnapi_shim_error* error);

// Asks the chosen devices which operations of the finished model they support, and completes the choice if some are
// left over: NNAPI compiles a model only for devices that together support all of its operations.
//
// The choice stays as it is if the devices support all operations. The reference CPU joins the choice if the options
// ask for a kind of device and such devices support some operations. Otherwise the result is NNAPI_SHIM_REFUSED with
// the unsupported operations: if the options name a device, exclude the reference CPU or need exactly one device (for
// timeouts or timing), or if the devices support no operation, so that only the reference CPU would run the model.
int complete_devices(const NnapiLibrary& library, const Options& options, const SubgraphView& main,
                     const ANeuralNetworksModel* model, DeviceChoice* choice, nnapi_shim_error* error);

// Sets `supported` for each operation of the main model: 1 or 0, or -1 below feature level 3, where NNAPI can't tell.
// For an empty choice, asks all devices.
int query_support(const NnapiLibrary& library, const DeviceChoice& choice, const ANeuralNetworksModel* model,
                  size_t operation_count, std::vector<int8_t>* supported, nnapi_shim_error* error);

}  // namespace nnapi_shim
