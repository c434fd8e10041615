// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/quantization_rules.h"

#include "lib/host_runtime/quantization.h"

namespace nnapi_convert::host {

FuseCode activation_of(const OpContext& context) {
  const int64_t code = context.integer("activation");
  if (code < 0 || code > static_cast<int64_t>(FuseCode::RELU6)) {
    context.refuse("activation", "{} found, 0 to 3 needed", code);
  }
  return static_cast<FuseCode>(code);
}

at::Tensor requantized(const OpContext& context, const char* name, const Operand& output) {
  if (!is_quantized_8bit(output.type)) return context.stored(name);
  return to_shifted_codes(context.real(name).to(at::kFloat).to(at::kDouble), output);
}

void require_same_quantization(const OpContext& context, const char* a, const char* b) {
  const Operand& first = context.operand(a);
  const Operand& second = context.operand(b);
  if (!is_quantized_8bit(first.type) || same_quantization(first, second)) return;
  context.refuse(b, "scale {}, zero point {} found, those of {} needed: {}, {}", second.scale, second.zero_point, a,
                 first.scale, first.zero_point);
}

void require_quantization(const OpContext& context, const char* name, float scale, int32_t zero_point) {
  const Operand& operand = context.operand(name);
  if (operand.scale == scale && operand.zero_point == zero_point) return;
  context.refuse(name, "scale {}, zero point {} found, {}, {} needed", operand.scale, operand.zero_point, scale,
                 zero_point);
}

void require_paddable(const OpContext& context) {
  const Operand& input = context.operand("input");
  if (!is_quantized_8bit(input.type) || context.feature_level() >= 3 || input.zero_point == 0) return;
  context.refuse("input", "zero point {} found, 0 needed below feature level 3", input.zero_point);
}

}  // namespace nnapi_convert::host
