// The passes over a lowered model, in their order.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

struct OptimiseOptions {
  bool nhwc = false;  // convolutions and pools run in NHWC, also where no input is handed over so
  int feature_level = 3;
  std::set<std::string> disabled;  // names of passes that are left out; the model may then be refused
  std::function<void(const std::string& pass, const Model& model)> on_pass;  // called after each pass
  const DeviceProfile* device = nullptr;  // what the device takes; null: all of the feature level
};

// With a device, passes whose results it refuses are left out where that makes it refuse less.
void optimise(Model& model, const OptimiseOptions& options);

// The names of the passes that can be left out.
std::vector<std::string> pass_names();

}  // namespace nnapi_convert::nnapi
