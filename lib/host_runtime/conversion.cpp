// SPDX-License-Identifier: BSD-3-Clause
// QUANTIZE, DEQUANTIZE and CAST.
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"

namespace nnapi_convert::host {

void same_shape_rule(OpContext& context) {
  context.set_output(context.dims("input"));
}

void convert(OpContext& context) {
  context.store(context.real("input"));
}

void cast(OpContext& context) {
  const OperandCode from = context.type("input"), to = context.type("output");
  const at::Tensor input = context.stored("input");
  if (from == to) return context.put(input);
  if (to == OperandCode::TENSOR_QUANT8_ASYMM) {
    const at::Tensor numbers = input.scalar_type() == at::kHalf ? input.to(at::kFloat) : input;
    return context.put(numbers.clamp(0, 255).to(at::kByte));
  }
  context.put(input.to(storage_type(to)));
}

}  // namespace nnapi_convert::host
