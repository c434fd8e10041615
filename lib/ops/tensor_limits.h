// SPDX-License-Identifier: BSD-3-Clause
// Checks for sizes that no NNAPI tensor can have.
#pragma once

#include <cstdint>
#include <string>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// Android's runtime counts a tensor's bytes as uint32.
constexpr int64_t kMostTensorBytes = UINT32_MAX;

// True if a size is 0: in NNAPI, 0 means an unknown size.
bool is_empty(const TensorType& type);

// Returns a message for a tensor of fixed sizes that is too large for NNAPI: "float32[1, 3, 40000, 40000] has more than
// 4294967295 bytes"; empty for other tensors.
std::string excess(const TensorType& type);

}  // namespace nnapi_convert
