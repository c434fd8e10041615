// TensorType: what is known of a tensor before the model runs.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "lib/base/dim.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert {

// Per-tensor affine: real value = scale * (stored - zero_point). Not quantised: scale 0.
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

// "float32[1, 3, 224, 224]", "quint8[1, 8] scale 0.5 zero_point 128".
std::string to_text(const TensorType& type);
// "float32", "quint8"...: PyTorch's names without "torch.".
std::string dtype_name(at::ScalarType dtype);

// True if NNAPI has an operand type for it (at some feature level). int64 is held as int32: the module converts at its
// boundary, and constants are checked at conversion.
bool has_operand_code(at::ScalarType dtype);
// The operand that holds a tensor of this type; has_operand_code(type.dtype).
nnapi::Operand to_operand(const TensorType& type);

}  // namespace nnapi_convert
