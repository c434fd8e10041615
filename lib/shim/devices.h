// NNAPI's devices: which there are, which the options choose, and whether they take a model's operations.
#pragma once

#include <string>
#include <vector>

#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_library.h"
#include "lib/shim/options.h"

namespace nnapi_shim {

// NNAPI's own CPU implementation, which takes every operation, slowly.
constexpr const char* kReferenceDevice = "nnapi-reference";

struct Device {
  ANeuralNetworksDevice* handle = nullptr;
  const char* name = "";     // NNAPI's; stays
  const char* version = "";  // NNAPI's; stays
  int32_t type = 0;          // ANEURALNETWORKS_DEVICE_*
  int64_t feature_level_code = 0;
};

// Below feature level 3 no devices can be listed: NNAPI_SHIM_TOO_OLD.
int list_devices(const NnapiLibrary& library, std::vector<Device>* devices, nnapi_shim_error* error);

// Empty: NNAPI chooses.
struct DeviceChoice {
  std::vector<ANeuralNetworksDevice*> handles;
  std::string names;  // separated by ", "
};

// What `options` ask for. NNAPI_SHIM_NO_DEVICE where there is none such, NNAPI_SHIM_BAD_ARGUMENT where timeouts or
// timing are asked for and the choice is not exactly one device, NNAPI_SHIM_TOO_OLD where NNAPI can't choose.
// With a support library, which has no choice of its own, "any device" is all of its devices.
int choose_devices(const NnapiLibrary& library, const Options& options, DeviceChoice* choice, nnapi_shim_error* error);

// Asks the chosen devices which operations of the finished model they take, as NNAPI does not compile a model for
// chosen devices that leave some over.
//
// If all: as it is. If the options name a device, exclude the reference CPU, or need exactly one device for timeouts or
// timing: NNAPI_SHIM_REFUSED, with the operations. If they ask for a kind of device and it takes some: the reference
// CPU joins the choice, for the others. NNAPI_SHIM_REFUSED if it takes none: the model would run nowhere but on the
// reference CPU.
int complete_devices(const NnapiLibrary& library, const Options& options, const SubgraphView& main,
                     const ANeuralNetworksModel* model, DeviceChoice* choice, nnapi_shim_error* error);

// For each operation of the main model 1 or 0, or -1 where NNAPI can't be asked (below feature level 3). Of an empty
// choice, all devices are asked.
int query_support(const NnapiLibrary& library, const DeviceChoice& choice, const ANeuralNetworksModel* model,
                  size_t operation_count, std::vector<int8_t>* supported, nnapi_shim_error* error);

}  // namespace nnapi_shim
