// SPDX-License-Identifier: BSD-3-Clause
// Changes of dtype, by CAST.
#include <fmt/format.h>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

// Returns the dtype that the argument `dtype` or the tensor `other` asks for; the tensor's own dtype without them.
at::ScalarType wanted_dtype(const OpArguments& args) {
  if (args.has("other")) return args.tensor("other").dtype;
  if (!args.has("dtype") || args.is_none("dtype")) return args.tensor("self").dtype;
  return static_cast<at::ScalarType>(args.integer("dtype"));
}

std::vector<ValueType> converted_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const at::ScalarType dtype = wanted_dtype(args);
  if (dtype == self.dtype) return {self};
  const bool is_taken = has_operand_code(self.dtype) || self.dtype == at::kByte;  // lower hands bytes over as quint8
  args.require(!self.is_quantized() && !c10::isQIntType(dtype) && has_operand_code(dtype) && is_taken,
               fmt::format("a change from {} to {}", dtype_name(self.dtype), dtype_name(dtype)),
               "float32, int32, int64 or bool", self.is_quantized() ? "use dequantize()" : "");
  return {TensorType{dtype, self.dims, {}}};
}

void lower_conversion(OpContext& ctx) {
  argument(ctx, "self").set_output();
}

}  // namespace

OpRules conversion_rules() {
  const char* note = "between float32, int32, int64 and bool: feature level 3";
  return {
      {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       1, note, converted_type, lower_conversion, kElementwise | Fact::kCasts},
      {"aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
       "bool? "
       "pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
       1, note, converted_type, lower_conversion, kElementwise | Fact::kCasts},
      {"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None) -> Tensor(a)",
       1, note, converted_type, lower_conversion, kElementwise | Fact::kCasts},
      {"aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       3, note, converted_type, lower_conversion, kElementwise | Fact::kCasts},
      {"aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool non_blocking=False, bool "
       "copy=False) -> "
       "Tensor(b|a)",
       1, note, converted_type, lower_conversion, kElementwise | Fact::kCasts},
      {"aten::type_as(Tensor self, Tensor other) -> Tensor", 3, note, converted_type, lower_conversion,
       kUnprovedRows | Fact::kSizesAreSums | Fact::kCasts},
  };
}

}  // namespace nnapi_convert
