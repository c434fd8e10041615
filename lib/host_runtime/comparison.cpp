// SPDX-License-Identifier: BSD-3-Clause
// Comparisons, logical operations and SELECT.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

at::Tensor compared(OperationCode code, const at::Tensor& a, const at::Tensor& b) {
  switch (code) {
    case OperationCode::EQUAL:
      return a.eq(b);
    case OperationCode::NOT_EQUAL:
      return a.ne(b);
    case OperationCode::LESS:
      return a.lt(b);
    case OperationCode::LESS_EQUAL:
      return a.le(b);
    case OperationCode::GREATER:
      return a.gt(b);
    default:
      return a.ge(b);
  }
}

}  // namespace

void compare(OpContext& context) {
  // Android's reference compares quantised values as float, which makes some different values equal.
  const auto numbers = [&](const char* name) {
    return is_quantized_8bit(context.type(name)) ? context.real(name).to(at::kFloat) : context.real(name);
  };
  context.put(compared(context.code(), numbers("input1"), numbers("input2")).to(at::kByte));
}

void logical(OpContext& context) {
  const at::Tensor a = context.stored("input1").ne(0), b = context.stored("input2").ne(0);
  const at::Tensor result = context.code() == OperationCode::LOGICAL_AND ? at::logical_and(a, b) : at::logical_or(a, b);
  context.put(result.to(at::kByte));
}

void select_rule(OpContext& context) {
  for (const char* name : {"input1", "input2"}) {
    if (context.dims(name) == context.dims("condition")) continue;
    context.refuse(name, "dimensions {} found, those of the condition needed: {}", to_string(context.dims(name)),
                   to_string(context.dims("condition")));
  }
  context.set_output(context.dims("condition"));
}

void select(OpContext& context) {
  const at::Tensor condition = context.stored("condition").ne(0);
  const Operand& output = context.operand("output");
  context.put(at::where(condition, requantized(context, "input1", output), requantized(context, "input2", output)));
}

}  // namespace nnapi_convert::host
