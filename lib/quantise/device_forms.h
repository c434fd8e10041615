// SPDX-License-Identifier: BSD-3-Clause
// Finds operations whose integer form a device refuses although it takes their float form.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/nnapi/device_profile.h"
#include "lib/nnapi/model.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {

// Returns the operations of `model`, by number, that are integer in `integers` and have to be float so that the device
// takes more of it. For a QUANTIZE that the device refuses these are its readers; for a DEQUANTIZE, what it reads. A
// device without any QUANTIZE, or DEQUANTIZE, keeps its integers. `integers` is made of `model` by `assignment`.
std::vector<size_t> refused_integers(const nnapi::DeviceProfile& device, const nnapi::Model& model,
                                     const Assignment& assignment, const Rewritten& integers);

}  // namespace nnapi_convert::quantise
