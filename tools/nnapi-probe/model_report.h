// SPDX-License-Identifier: BSD-3-Clause
// Reports which devices support the operations of a model that nnapi-convert wrote.
#pragma once

#include <string>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_probe {

struct ModelReportRequest {
  std::string path;
  std::vector<std::vector<int64_t>> shapes;  // the arguments' shapes; empty: the model's own, which have to be fixed
  nnapi_shim_options options{};              // only the library is read
  std::vector<std::string> devices;
};

// Prints a line for each operation with the devices that support it, and a line for each device with the number of
// operations that it supports. Returns an nnapi_shim_status.
int report_model(const ModelReportRequest& request, nnapi_shim_error* error);

}  // namespace nnapi_probe
