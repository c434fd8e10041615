// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/model_report.h"

#include <cstdio>
#include <memory>

#include "lib/format/operation_table.h"
#include "lib/shim/failure.h"

namespace nnapi_probe {
namespace {

struct Row {
  int32_t code = 0;
  std::string name, source, devices;
};

struct Visit {
  std::vector<Row>* rows;
  const std::string* device;
  size_t taken = 0;
};

void take_operation(void* user, uint32_t number, int32_t code, const char* name, const char* source,
                    int32_t is_supported) {
  auto* visit = static_cast<Visit*>(user);
  if (visit->rows->size() <= number) visit->rows->resize(number + 1);
  Row& row = (*visit->rows)[number];
  row.code = code;
  row.name = name;
  row.source = source;
  if (is_supported != 1) return;
  ++visit->taken;
  row.devices += (row.devices.empty() ? "" : ", ") + *visit->device;
}

// Takes the arguments' sizes from the model.
int read_shapes(const nnapi_shim_model* model, const std::string& path, std::vector<std::vector<int64_t>>* shapes,
                nnapi_shim_error* error) {
  for (uint32_t i = 0; i < nnapi_shim_argument_count(model); ++i) {
    uint32_t rank = 0;
    int64_t sizes[NNAPI_SHIM_MOST_AXES];
    if (const int status = nnapi_shim_argument(model, i, &rank, sizes, error)) return status;
    shapes->emplace_back(sizes, sizes + rank);
    for (const int64_t size : shapes->back()) {
      if (size != 0) continue;
      return nnapi_shim::fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                              "argument %u of %.200s has a flexible size; give the shapes of all arguments, in order, "
                              "for example --shape 1,3,224,224",
                              i, path.c_str());
    }
  }
  return NNAPI_SHIM_OK;
}

void print_row(size_t number, const Row& row) {
  const char* operation = nnapi_convert::name_of(static_cast<nnapi_convert::OperationCode>(row.code));
  std::printf("%5zu  %-28s %-28s %s%s%s\n", number, operation, row.devices.empty() ? "none" : row.devices.c_str(),
              row.name.c_str(), row.source.empty() ? "" : "  ", row.source.c_str());
}

}  // namespace

int report_model(const ModelReportRequest& request, nnapi_shim_error* error) {
  nnapi_shim_model* opened = nullptr;
  if (const int status = nnapi_shim_open_file(request.path.c_str(), &opened, error)) return status;
  const std::unique_ptr<nnapi_shim_model, void (*)(nnapi_shim_model*)> model(opened, nnapi_shim_close);
  if (const int status = nnapi_shim_configure(model.get(), &request.options, error)) return status;
  std::vector<std::vector<int64_t>> sizes = request.shapes;
  if (sizes.empty()) {
    if (const int status = read_shapes(model.get(), request.path, &sizes, error)) return status;
  }
  std::vector<nnapi_shim_shape> shapes;
  for (const std::vector<int64_t>& one : sizes) shapes.push_back({static_cast<uint32_t>(one.size()), one.data()});
  std::vector<Row> rows;
  std::vector<size_t> taken;
  for (const std::string& device : request.devices) {
    Visit visit{&rows, &device};
    const int status = nnapi_shim_visit_operations(model.get(), shapes.data(), static_cast<uint32_t>(shapes.size()),
                                                   device.c_str(), take_operation, &visit, error);
    if (status != NNAPI_SHIM_OK) return status;
    taken.push_back(visit.taken);
  }
  std::printf("%5s  %-28s %-28s %s\n", "", "operation", "taken by", "name and source line");
  for (size_t i = 0; i < rows.size(); ++i) print_row(i, rows[i]);
  for (size_t i = 0; i < taken.size(); ++i) {
    std::printf("%s takes %zu of %zu operations\n", request.devices[i].c_str(), taken[i], rows.size());
  }
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_probe
