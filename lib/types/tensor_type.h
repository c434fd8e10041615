// SPDX-License-Identifier: BSD-3-Clause
// Describes a tensor before the model runs: its dtype, sizes and quantisation.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "lib/base/dim.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert {

// Per-tensor affine quantisation: real value = scale * (stored value - zero_point). Scale 0 means not quantised.
struct Quantization {
  double scale = 0;
  int64_t zero_point = 0;

  friend bool operator==(const Quantization& a, const Quantization& b) {
    return a.scale == b.scale && a.zero_point == b.zero_point;
  }
};

struct TensorType {
  at::ScalarType dtype = at::kFloat;
  Dims dims;  // in PyTorch's order
  Quantization quantization;

  size_t rank() const { return dims.size(); }
  bool is_quantized() const { return c10::isQIntType(dtype); }
  TensorType with_dims(Dims new_dims) const { return {dtype, std::move(new_dims), quantization}; }
};

// Returns a text such as "float32[1, 3, 224, 224]" or "quint8[1, 8] scale 0.5 zero_point 128".
std::string to_text(const TensorType& type);
// Returns PyTorch's name of a dtype without "torch.", such as "float32".
std::string dtype_name(at::ScalarType dtype);

// Returns true if NNAPI has an operand type for the dtype at some feature level. NNAPI holds int64 as int32: the module
// converts inputs and outputs, and the conversion checks constants.
bool has_operand_code(at::ScalarType dtype);
// Returns an operand for a tensor of this type; needs has_operand_code(type.dtype).
nnapi::Operand to_operand(const TensorType& type);

}  // namespace nnapi_convert
