// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/promotion.h"

#include <ATen/ATen.h>
#include <c10/core/DefaultDtype.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

bool is_tensor(const OpArguments& args, const std::string& name) {
  return args.input(name)->type()->kind() == c10::TypeKind::TensorType;
}

// Returns a size as a number. It is a constant of NNAPI's model, which the module around it sets before the model is
// compiled.
Expression size_as(OpContext& ctx, const std::string& name, at::ScalarType dtype) {
  constexpr int kHasCast = 3;
  const Dims size = ctx.sizes(name);
  ctx.require(size.size() == 1, fmt::format("argument {} has {} numbers", name, size.size()), "one");
  ctx.require(ctx.feature_level() >= kHasCast, fmt::format("argument {} depends on the input's size", name),
              fmt::format("a constant, or feature level {}", kHasCast), "give every size of the input with --input");
  return cast({ctx, {ctx.builder().int32_tensor(size), {at::kInt, {}, {}}}}, dtype);
}

// True for a number, and for the tensor that tracing makes of a number.
bool counts_as_number(const OpArguments& args, const std::string& name) {
  return !is_tensor(args, name) ||
         (args.is_constant(name) && args.constant(name).unsafeGetTensorImpl()->is_wrapped_number());
}

at::ScalarType dtype_of_number(const OpArguments& args, const std::string& name) {
  if (is_size(args, name)) return at::kLong;
  const c10::IValue value = is_tensor(args, name) ? c10::IValue(args.constant(name).item()) : args.value(name);
  if (value.isBool()) return at::kBool;
  if (value.isComplexDouble()) return c10::toComplexType(c10::get_default_dtype_as_scalartype());
  return value.isInt() ? at::kLong : c10::get_default_dtype_as_scalartype();
}

// The promoted dtype of each kind of argument, in order of precedence; Undefined if there is none of the kind.
struct Seen {
  at::ScalarType tensor = at::ScalarType::Undefined;
  at::ScalarType single = at::ScalarType::Undefined;  // tensors of rank 0
  at::ScalarType number = at::ScalarType::Undefined;
};

void add(at::ScalarType& seen, at::ScalarType dtype) {
  seen = seen == at::ScalarType::Undefined ? dtype : c10::promoteTypes(seen, dtype);
}

// Promotes the dtypes of two kinds. The lower kind changes the dtype only from bool to a number, from an integer to a
// float, or from a real to a complex one.
at::ScalarType combined(at::ScalarType higher, at::ScalarType lower) {
  if (higher == at::ScalarType::Undefined) return lower;
  if (c10::isComplexType(higher)) return higher;
  if (c10::isComplexType(lower)) return c10::isFloatingType(higher) ? c10::toComplexType(higher) : lower;
  if (lower == at::ScalarType::Undefined || c10::isFloatingType(higher)) return higher;
  if (higher == at::kBool || c10::isFloatingType(lower)) return c10::promoteTypes(higher, lower);
  return higher;
}

void refuse_dtype(const OpArguments& args, const std::vector<std::string>& names, at::ScalarType dtype) {
  std::string found;
  for (const std::string& name : names) {
    if (!counts_as_number(args, name)) found += (found.empty() ? "" : " and ") + to_text(args.tensor(name));
  }
  args.require(false, fmt::format("a computation in {} of {}", dtype_name(dtype), found),
               "float32, int32, int64 or bool",
               c10::isFloatingType(dtype) ? hint_for_floats(*args.node().owningGraph()) : "");
}

}  // namespace

at::ScalarType promoted_dtype(const OpArguments& args, const std::vector<std::string>& names) {
  Seen seen;
  for (const std::string& name : names) {
    if (counts_as_number(args, name)) {
      add(seen.number, dtype_of_number(args, name));
      continue;
    }
    const TensorType type = args.tensor(name);
    args.require(!type.is_quantized(), "a tensor " + to_text(type), "float32",
                 "use the operations of torch.ao.nn.quantized.FloatFunctional");
    add(type.rank() == 0 ? seen.single : seen.tensor, type.dtype);
  }
  const at::ScalarType dtype = combined(seen.tensor, combined(seen.single, seen.number));
  // Bytes are taken if they become float32; operators that compute bytes from bytes are refused later (byte_inputs.h).
  if (!has_operand_code(dtype) && dtype != at::kByte) refuse_dtype(args, names, dtype);
  return dtype;
}

Dims broadcast_dims(const OpArguments& args, const std::vector<std::string>& names) {
  Dims dims;
  for (const std::string& name : names) {
    if (!is_tensor(args, name)) continue;
    const TensorType type = args.tensor(name);
    require_rank(args, type, 0, kHighestRank);
    dims = broadcast(args, dims, type.dims);
  }
  return dims;
}

TensorType promoted_type(const OpArguments& args, const std::vector<std::string>& names) {
  const at::ScalarType dtype = promoted_dtype(args, names);
  return {dtype, broadcast_dims(args, names), {}};
}

at::ScalarType float_of(at::ScalarType dtype) {
  return c10::isIntegralType(dtype, true) ? at::kFloat : dtype;
}

bool is_size(const OpArguments& args, const std::string& name) {
  return args.input(name)->type()->kind() == c10::TypeKind::IntType && !args.is_constant(name);
}

bool is_number(const OpArguments& args, const std::string& name) {
  if (!is_tensor(args, name)) return true;
  return args.is_constant(name) && args.constant(name).numel() == 1 && !args.constant(name).is_quantized();
}

double number_value(const OpArguments& args, const std::string& name) {
  if (is_tensor(args, name)) return args.constant(name).item().toDouble();
  return args.number(name);
}

bool is_known(const OpArguments& args, const std::string& name) {
  return !is_tensor(args, name) || args.is_constant(name);
}

Expression argument_as(OpContext& ctx, const std::string& name, at::ScalarType dtype, double factor) {
  if (is_size(ctx, name)) return size_as(ctx, name, dtype) * factor;
  if (!is_tensor(ctx, name)) return constant(ctx, ctx.number(name) * factor, dtype);
  if (!ctx.is_constant(name)) return cast(argument(ctx, name), dtype) * factor;
  const at::Tensor value = ctx.constant(name).to(dtype);
  return tensor_constant(ctx, factor == 1 ? value : at::mul(value, factor).to(dtype));
}

Expression tensor_constant(OpContext& ctx, const at::Tensor& value) {
  return {ctx, {ctx.constant_operand(value), {value.scalar_type(), to_dims(value.sizes().vec()), {}}}};
}

}  // namespace nnapi_convert
