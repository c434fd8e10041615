// SPDX-License-Identifier: BSD-3-Clause
// Operators that make or read complex numbers are formulas of the two parts (lib/ops/formulas.h).
// Joining the parts costs nothing if only such formulas read the result.
#include "lib/ops/complex.h"
#include "lib/ops/promotion.h"

namespace nnapi_convert {
namespace {

std::vector<ValueType> complex_type(const OpArguments& args) {
  const TensorType parts = promoted_type(args, {"real", "imag"});
  args.require(parts.dtype == at::kFloat, "parts " + to_text(parts), "float32");
  return {TensorType{at::kComplexFloat, parts.dims, {}}};
}

void lower_complex(OpContext& ctx) {
  ctx.refuse("complex numbers", "real ones",
             "NNAPI has no complex operands: use the parts, as by view_as_real, abs or angle");
}

}  // namespace

OpRules complex_rules() {
  return {{"aten::complex(Tensor real, Tensor imag) -> Tensor", 1, "read as real, imag, abs, angle or view_as_real",
           complex_type, lower_complex, kUnprovedRows}};
}

}  // namespace nnapi_convert
