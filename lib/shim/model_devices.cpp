// SPDX-License-Identifier: BSD-3-Clause
// Asks devices which operations of a model they support.
#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/shim/model.h"

namespace nnapi_shim {

int Model::build_for_questions(const CallShapes& shapes, ModelView* view, std::unique_ptr<BuiltModel>* built,
                               nnapi_shim_error* error) {
  int status = check_shapes(shapes, argument_count(), error);
  if (status == NNAPI_SHIM_OK) status = start(error);
  if (status == NNAPI_SHIM_OK) status = buffer_->bind(shapes.arguments, shapes.count, view, error);
  if (status != NNAPI_SHIM_OK) return status;
  *built = std::make_unique<BuiltModel>(*library_, weight_memory(false));
  return (*built)->build(*view, error);
}

int Model::visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit,
                            void* user, nnapi_shim_error* error) {
  ModelView view;
  std::unique_ptr<BuiltModel> built;
  int status = build_for_questions(shapes, &view, &built, error);
  if (status != NNAPI_SHIM_OK) return status;
  Options asked;
  asked.device = device ? device : options_.device;
  if (!device) asked.device_kind = options_.device_kind;
  DeviceChoice choice;
  // A named device is asked even if a rule forbids it: its answers to the operations of rules are 0.
  asked.replaces_rules = device != nullptr || options_.replaces_rules;
  if (!device) asked.own_rules = options_.own_rules;
  AllowedDevices named;
  status = choose_devices(*library_, asked, &view, &choice, error);
  std::vector<int8_t> supported;
  const std::vector<OperationView>& operations = view.models[0].operations;
  if (status == NNAPI_SHIM_OK) {
    status = query_support(*library_, choice, built->main(), operations.size(), &supported, error);
  }
  if (device) list_allowed_devices(*library_, asked, nullptr, &named, nullptr);
  for (const Device& each : named.devices) {
    for (size_t i = 0; i < supported.size(); ++i) {
      const bool is_wrong = options_.rules().is_about(each.name, each.version, view.models[0], operations[i]);
      if (is_wrong && supported[i] == 1) supported[i] = 0;
    }
  }
  if (status != NNAPI_SHIM_OK) return status;
  for (size_t i = 0; i < operations.size(); ++i) {
    visit(user, static_cast<uint32_t>(i), operations[i].code, operations[i].name, operations[i].source, supported[i]);
  }
  return status;
}

int Model::supported_share(const CallShapes& shapes, double* share, nnapi_shim_error* error) {
  *share = 1;
  if (const int status = start(error)) return status;
  if (!library_->ANeuralNetworksModel_getSupportedOperationsForDevices) return NNAPI_SHIM_OK;
  ModelView view;
  std::unique_ptr<BuiltModel> built;
  int status = build_for_questions(shapes, &view, &built, error);
  DeviceChoice choice;
  AllowedDevices allowed;
  if (status == NNAPI_SHIM_OK) status = choose_devices(*library_, options_, &view, &choice, error);
  if (status == NNAPI_SHIM_OK) status = list_allowed_devices(*library_, options_, &view, &allowed, error);
  if (status != NNAPI_SHIM_OK) return status;
  const size_t count = view.models[0].operations.size();
  size_t most = 0;
  for (const Device& device : allowed.devices) {
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
