// Comparisons, logical operations and SELECT.
#include "lib/host_runtime/kernels/axes.h"
#include "lib/host_runtime/kernels/kernels.h"

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
  context.put(compared(context.code(), context.real("input1"), context.real("input2")).to(at::kByte));
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
  if (context.type("input1") == OperandCode::TENSOR_INT32) {
    return context.put(at::where(condition, context.stored("input1"), context.stored("input2")));
  }
  context.store(at::where(condition, context.real("input1"), context.real("input2")));
}

}  // namespace nnapi_convert::host
