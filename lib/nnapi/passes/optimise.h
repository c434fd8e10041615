// SPDX-License-Identifier: BSD-3-Clause
// Runs the passes over a lowered model, in their order.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

struct OptimiseOptions {
  bool nhwc = false;  // convolutions and pools run in NHWC even if no input is NHWC
  int feature_level = 3;
  bool half_precision = false;     // the device may compute in float16
  std::set<std::string> disabled;  // names of passes to leave out; NNAPI may then refuse the model
  std::function<void(const std::string& pass, const Model& model)> on_pass;  // called after each pass
  const DeviceProfile* device = nullptr;  // null: a device that accepts all operations of the feature level
};

// Runs the passes. With a device, leaves out passes whose results it refuses if then it refuses fewer operations.
void optimise(Model& model, const OptimiseOptions& options);

// Returns the names of the passes that can be left out.
std::vector<std::string> pass_names();

}  // namespace nnapi_convert::nnapi
