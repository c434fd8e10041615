// SPDX-License-Identifier: BSD-3-Clause
// The features of NNAPI, the loader and the device that rules may use.
#pragma once

#include "lib/nnapi/device_profile.h"

namespace nnapi_convert {

struct Target {
  int feature_level = 3;                         // the highest NNAPI feature level that may be used
  bool channel_scales = false;                   // the loader can carry weights with a scale for each channel
  bool omitted_operands = false;                 // the loader can leave out optional operands
  bool tanh_gelu = false;                        // exact gelu may also be computed by tanh's formula
  const nnapi::DeviceProfile* device = nullptr;  // the target device; null: any device of the feature level
};

}  // namespace nnapi_convert
