// SPDX-License-Identifier: BSD-3-Clause
#include "lib/types/constant_tensor.h"

#include <ATen/ATen.h>

#include "lib/base/error.h"

namespace nnapi_convert {

at::ScalarType scalar_type(nnapi::DataType type) {
  switch (type) {
    case nnapi::DataType::kFloat32:
      return at::kFloat;
    case nnapi::DataType::kInt32:
      return at::kInt;
    case nnapi::DataType::kInt8:
      return at::kChar;
    case nnapi::DataType::kUInt8:
      return at::kByte;
    case nnapi::DataType::kBool:
      return at::kBool;
    case nnapi::DataType::kFloat16:
      return at::kHalf;
  }
  NNC_ASSERT(false, "unknown data type");
}

at::Tensor to_tensor(const nnapi::Constant& constant) {
  const nnapi::Constant value = constant.evaluated();
  auto keep_alive = [owner = value.owner()](void*) {};
  return at::from_blob(const_cast<void*>(value.source()), value.shape(), keep_alive, scalar_type(value.type()));
}

}  // namespace nnapi_convert
