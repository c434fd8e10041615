// SPDX-License-Identifier: BSD-3-Clause
#include "lib/types/tensor_type.h"

#include <fmt/format.h>

#include "lib/base/error.h"

namespace nnapi_convert {

std::string dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    case at::kByte:
      return "uint8";
    case at::kChar:
      return "int8";
    case at::kShort:
      return "int16";
    case at::kInt:
      return "int32";
    case at::kLong:
      return "int64";
    case at::kBool:
      return "bool";
    case at::kQUInt8:
      return "quint8";
    case at::kQInt8:
      return "qint8";
    case at::kComplexHalf:
      return "complex32";
    case at::kComplexFloat:
      return "complex64";
    case at::kComplexDouble:
      return "complex128";
    default:
      return c10::toString(dtype);
  }
}

std::string to_text(const TensorType& type) {
  std::string text = dtype_name(type.dtype) + to_text(type.dims);
  if (type.is_quantized()) {
    text += fmt::format(" scale {} zero_point {}", type.quantization.scale, type.quantization.zero_point);
  }
  return text;
}

bool has_operand_code(at::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kInt || dtype == at::kLong || dtype == at::kBool || dtype == at::kQUInt8 ||
         dtype == at::kQInt8;
}

nnapi::Operand to_operand(const TensorType& type) {
  nnapi::Operand operand;
  operand.dims = type.dims;
  if (type.dims.empty()) operand.dims = {1};  // NNAPI has no tensors of rank 0
  switch (type.dtype) {
    case at::kFloat:
      operand.type = OperandCode::TENSOR_FLOAT32;
      break;
    case at::kInt:
    case at::kLong:
      operand.type = OperandCode::TENSOR_INT32;
      break;
    case at::kBool:
      operand.type = OperandCode::TENSOR_BOOL8;
      break;
    case at::kQUInt8:
      operand.type = OperandCode::TENSOR_QUANT8_ASYMM;
      break;
    case at::kQInt8:
      operand.type = OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
      break;
    default:
      NNC_ASSERT(false, dtype_name(type.dtype));
  }
  if (type.is_quantized()) {
    operand.scale = static_cast<float>(type.quantization.scale);
    operand.zero_point = static_cast<int32_t>(type.quantization.zero_point);
  }
  return operand;
}

}  // namespace nnapi_convert
