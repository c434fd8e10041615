// Asks devices which operations of a model they support.
#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/shim/model.h"

namespace nnapi_shim {
namespace {

// The devices that the options leave to choose from.
int list_asked(const NnapiLibrary& library, const Options& options, std::vector<Device>* devices,
               nnapi_shim_error* error) {
  DeviceChoice choice;
  int status = choose_devices(library, options, &choice, error);
  if (status == NNAPI_SHIM_OK) status = list_devices(library, devices, error);
  if (status != NNAPI_SHIM_OK || choice.handles.empty()) return status;
  const auto is_left_out = [&](const Device& device) {
    return std::find(choice.handles.begin(), choice.handles.end(), device.handle) == choice.handles.end();
  };
  devices->erase(std::remove_if(devices->begin(), devices->end(), is_left_out), devices->end());
  return status;
}

}  // namespace

int Model::build_for_questions(const nnapi_shim_shape* arguments, uint32_t argument_count, ModelView* view,
                               std::unique_ptr<BuiltModel>* built, nnapi_shim_error* error) {
  int status = check_arguments(arguments, argument_count, error);
  if (status == NNAPI_SHIM_OK) status = start(error);
  if (status == NNAPI_SHIM_OK) status = buffer_->bind(arguments, argument_count, view, error);
  if (status != NNAPI_SHIM_OK) return status;
  *built = std::make_unique<BuiltModel>(*library_, weight_memory_);
  return (*built)->build(*view, error);
}

int Model::visit_operations(const nnapi_shim_shape* arguments, uint32_t argument_count, const char* device,
                            nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error) {
  ModelView view;
  std::unique_ptr<BuiltModel> built;
  int status = build_for_questions(arguments, argument_count, &view, &built, error);
  if (status != NNAPI_SHIM_OK) return status;
  Options asked;
  asked.device = device ? device : options_.device;
  if (!device) asked.device_kind = options_.device_kind;
  DeviceChoice choice;
  status = choose_devices(*library_, asked, &choice, error);
  std::vector<int8_t> supported;
  const std::vector<OperationView>& operations = view.models[0].operations;
  if (status == NNAPI_SHIM_OK) {
    status = query_support(*library_, choice, built->main(), operations.size(), &supported, error);
  }
  if (status != NNAPI_SHIM_OK) return status;
  for (size_t i = 0; i < operations.size(); ++i) {
    visit(user, static_cast<uint32_t>(i), operations[i].code, operations[i].name, operations[i].source, supported[i]);
  }
  return status;
}

int Model::supported_share(const nnapi_shim_shape* arguments, uint32_t argument_count, double* share,
                           nnapi_shim_error* error) {
  *share = 1;
  if (const int status = start(error)) return status;
  if (!library_->ANeuralNetworksModel_getSupportedOperationsForDevices) return NNAPI_SHIM_OK;
  ModelView view;
  std::unique_ptr<BuiltModel> built;
  std::vector<Device> devices;
  int status = build_for_questions(arguments, argument_count, &view, &built, error);
  if (status == NNAPI_SHIM_OK) status = list_asked(*library_, options_, &devices, error);
  if (status != NNAPI_SHIM_OK) return status;
  const size_t count = view.models[0].operations.size();
  size_t most = 0;
  for (const Device& device : devices) {
    if (std::strcmp(device.name, kReferenceDevice) == 0) continue;
    DeviceChoice alone;
    alone.handles.push_back(device.handle);
    std::vector<int8_t> supported;
    if (query_support(*library_, alone, built->main(), count, &supported, nullptr) != NNAPI_SHIM_OK) continue;
    most = std::max(most, static_cast<size_t>(std::count(supported.begin(), supported.end(), 1)));
  }
  *share = count > 0 ? static_cast<double>(most) / static_cast<double>(count) : 1;
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
