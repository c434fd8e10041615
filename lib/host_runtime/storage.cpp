// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/storage.h"

#include <cstdint>
#include <cstring>

namespace nnapi_convert::host {

at::ScalarType storage_type(OperandCode type) {
  switch (type) {
    case OperandCode::FLOAT32:
    case OperandCode::TENSOR_FLOAT32:
      return at::kFloat;
    case OperandCode::FLOAT16:
    case OperandCode::TENSOR_FLOAT16:
      return at::kHalf;
    case OperandCode::INT32:
    case OperandCode::UINT32:
    case OperandCode::TENSOR_INT32:
      return at::kInt;
    case OperandCode::TENSOR_QUANT16_SYMM:
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return at::kShort;
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return at::kChar;
    default:
      return at::kByte;
  }
}

at::Tensor view_of(const void* data, OperandCode type, const Dims& dims) {
  return at::from_blob(const_cast<void*>(data), dims, at::TensorOptions(storage_type(type)));
}

at::Tensor aligned_view_of(const void* data, OperandCode type, const Dims& dims) {
  const at::Tensor view = view_of(data, type, dims);
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::size_t>(element_bytes(type)) == 0) return view;
  at::Tensor copy = at::empty(dims, view.options());
  std::memcpy(copy.data_ptr(), data, copy.nbytes());
  return copy;
}

}  // namespace nnapi_convert::host
