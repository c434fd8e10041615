// Sizes that no NNAPI tensor has.
#pragma once

#include <cstdint>
#include <string>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// Android's runtime counts a tensor's bytes as uint32.
constexpr int64_t kMostTensorBytes = UINT32_MAX;

// True if a size is 0, which stands for an unknown size in NNAPI.
bool is_empty(const TensorType& type);

// What is wrong with a tensor of fixed sizes that NNAPI can't address: "float32[1, 3, 40000, 40000] has more than
// 4294967295 bytes"; empty for others.
std::string excess(const TensorType& type);

}  // namespace nnapi_convert
