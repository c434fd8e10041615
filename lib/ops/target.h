// What a model is lowered for.
#pragma once

#include "lib/nnapi/device_profile.h"

namespace nnapi_convert {

struct Target {
  int feature_level = 3;                         // the highest NNAPI feature level that may be used
  bool channel_scales = false;                   // the loader can carry weights with a scale for each channel
  bool omitted_operands = false;                 // the loader can leave out optional operands
  const nnapi::DeviceProfile* device = nullptr;  // what the device takes; null: all of the feature level
};

}  // namespace nnapi_convert
