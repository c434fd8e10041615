// SPDX-License-Identifier: BSD-3-Clause
// Samples as NNAPI's model takes them.
#pragma once

#include <vector>

#include "lib/converter/samples/calibration_samples.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/sample.h"

namespace nnapi_convert {

quantise::Sample physical_sample(const nnapi::Model& model, const std::vector<at::Tensor>& tensors);

}  // namespace nnapi_convert
