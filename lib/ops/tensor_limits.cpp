// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/tensor_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace nnapi_convert {

bool is_empty(const TensorType& type) {
  return std::find(type.dims.begin(), type.dims.end(), Dim(0)) != type.dims.end();
}

std::string excess(const TensorType& type) {
  if (is_empty(type)) return "";
  const bool is_int64 = type.dtype == at::kLong;  // NNAPI's are int32
  int64_t bytes = static_cast<int64_t>(is_int64 ? sizeof(int32_t) : c10::elementSize(type.dtype));
  for (const Dim& dim : type.dims) {
    const int64_t size = dim.fixed_value().value_or(1);
    if (size > kMostTensorBytes / bytes) {
      return fmt::format("{} has more than {} bytes", to_text(type), kMostTensorBytes);
    }
    bytes *= std::max<int64_t>(1, size);
  }
  return "";
}

}  // namespace nnapi_convert
