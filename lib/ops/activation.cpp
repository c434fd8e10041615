// SPDX-License-Identifier: BSD-3-Clause
// Activations made of straight lines: relu, clamp, leaky_relu, the shrinking ones.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "lib/ops/expression.h"
#include "lib/ops/families.h"
#include "lib/ops/promotion.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

constexpr int kPreluLevel = 3;
constexpr int kMaximumLevel = 3;

template <OperationCode code>
void lower_direct(OpContext& ctx) {
  argument(ctx, tensor_name(ctx)).then(code).set_output();
}

// The bounds of a clamp; a bound is absent if its argument is None.
struct Bounds {
  std::optional<double> low, high;
};

std::optional<double> bound(const OpArguments& args, const std::string& name) {
  if (!args.has(name) || args.is_none(name)) return std::nullopt;
  return args.number(name);
}

Bounds read_bounds(const OpArguments& args) {
  if (args.has("min_val")) return {bound(args, "min_val"), bound(args, "max_val")};
  return {bound(args, "min"), bound(args, "max")};
}

// Returns the NNAPI operation that clamps to these bounds, if there is one.
std::optional<OperationCode> relu_of(const Bounds& bounds) {
  if (bounds.low == 0.0 && !bounds.high) return OperationCode::RELU;
  if (bounds.low == 0.0 && bounds.high == 6.0) return OperationCode::RELU6;
  if (bounds.low == -1.0 && bounds.high == 1.0) return OperationCode::RELU1;
  return std::nullopt;
}

// Returns a number as a quantised constant with the tensor's own scale.
Expression quantized_like(const Expression& x, double value) {
  const Quantization& quantization = x.type().quantization;
  const at::Tensor number =
      at::quantize_per_tensor(at::full({1}, value), quantization.scale, quantization.zero_point, x.dtype());
  return {x.context(), {x.context().constant_operand(number), x.type().with_dims({})}};
}

Expression clamp_quantized(Expression x, const Bounds& bounds) {
  if (bounds.low) x = x.then(OperationCode::MAXIMUM, {quantized_like(x, *bounds.low).id()});
  if (bounds.high) x = x.then(OperationCode::MINIMUM, {quantized_like(x, *bounds.high).id()});
  return x;
}

// Clamps to both bounds below the level of MAXIMUM and MINIMUM: RELU6 of the input stretched to 0..6.
Expression clamp_by_relu6(const Expression& x, double low, double high) {
  const double stretch = 6 / (high - low);
  return relu6((x - low) * stretch) / stretch + low;
}

Expression clamp(const Expression& x, const Bounds& bounds) {
  const bool is_integer = at::isIntegralType(x.dtype(), /*includeBool=*/true);  // NNAPI's RELUs take none
  const auto code = relu_of(bounds);
  if (code && !is_integer) return x.then(*code);
  if (x.type().is_quantized()) return clamp_quantized(x, bounds);
  if (!is_integer && bounds.low == 0.0 && bounds.high == 1.0)
    return relu1(relu(x));  // both can be fused, at every level
  const bool has_maximum = x.context().can_use(OperationCode::MAXIMUM, kMaximumLevel) &&
                           x.context().can_use(OperationCode::MINIMUM, kMaximumLevel);
  if (!has_maximum && !is_integer && bounds.low && bounds.high && *bounds.low < *bounds.high) {
    return clamp_by_relu6(x, *bounds.low, *bounds.high);
  }
  const Expression raised = bounds.low ? maximum(x, *bounds.low) : x;
  return bounds.high ? minimum(raised, *bounds.high) : raised;
}

std::vector<ValueType> clamp_type(const OpArguments& args) {
  const TensorType type = args.tensor(tensor_name(args));
  const Bounds bounds = read_bounds(args);
  args.require(bounds.low || bounds.high, "no bounds", "min, max or both");
  if (type.is_quantized()) return float_or_quantized_self(args);
  std::vector<std::string> names{tensor_name(args)};
  for (const char* name : {"min", "max", "min_val", "max_val"}) {
    if (args.has(name) && !args.is_none(name)) names.emplace_back(name);
  }
  if (args.has("min_val")) names.resize(1);  // hardtanh takes its bounds in the tensor's dtype
  return {promoted_type(args, names)};
}

void lower_clamp(OpContext& ctx) {
  const Expression x = argument(ctx, tensor_name(ctx));
  const Expression promoted = x.type().is_quantized() ? x : cast(x, ctx.output_type().dtype);
  clamp(promoted, read_bounds(ctx)).set_output();
}

// Returns the names of the input and of its bounds that are tensors, which broadcast.
std::vector<std::string> clamped_names(const OpArguments& args) {
  std::vector<std::string> names{"self"};
  for (const char* name : {"min", "max"}) {
    if (args.has(name) && !args.is_none(name)) names.emplace_back(name);
  }
  return names;
}

std::vector<ValueType> clamp_tensor_type(const OpArguments& args) {
  return {promoted_type(args, clamped_names(args))};
}

void lower_clamp_tensor(OpContext& ctx) {
  const at::ScalarType dtype = ctx.output_type().dtype;
  Expression x = argument_as(ctx, "self", dtype);
  for (const std::string& name : clamped_names(ctx)) {
    if (name == "min") x = maximum(x, argument_as(ctx, name, dtype));
    if (name == "max") x = minimum(x, argument_as(ctx, name, dtype));
  }
  x.set_output();
}

// Multiplies x by the slope where x < 0, at levels below PRELU: slope * x + (1 - slope) * relu(x).
Expression leaky(const Expression& x, const Expression& slopes, const Expression& rest) {
  return x * slopes + relu(x) * rest;
}

// Returns the slope as a quantised constant that holds it exactly.
Expression quantized_slope(const Expression& x, double slope) {
  const at::Tensor number =
      at::_make_per_tensor_quantized_tensor(at::full({1}, 1, at::TensorOptions(at::kByte)), slope, 0);
  return {x.context(), {x.context().constant_operand(number), {at::kQUInt8, {}, {slope, 0}}}};
}

void lower_leaky(OpContext& ctx, double slope) {
  const Expression x = argument(ctx, tensor_name(ctx));
  if (x.type().is_quantized() && slope > 0 && slope < 1) {
    return x.then(OperationCode::PRELU, {quantized_slope(x, slope).id()}, ctx.output_type()).set_output();
  }
  const Expression real = dequantize(x);
  if (slope == 0) return relu(real).set_output();
  if (ctx.can_use(OperationCode::PRELU, kPreluLevel)) {
    return real.then(OperationCode::PRELU, {real.same(slope).id()}).set_output();
  }
  leaky(real, real.same(slope), real.same(1 - slope)).set_output();
}

void lower_leaky_relu(OpContext& ctx) {
  lower_leaky(ctx, ctx.number("negative_slope"));
}

std::vector<ValueType> rrelu_type(const OpArguments& args) {
  args.require(!args.boolean("training"), "training = True, for random numbers", "False",
               "call model.eval() before tracing or scripting");
  return float_self(args);
}

void lower_rrelu(OpContext& ctx) {
  lower_leaky(ctx, (ctx.number("lower") + ctx.number("upper")) / 2);
}

// PyTorch has a slope for each channel (axis 1); NNAPI broadcasts them from the last axis.
Dims slope_dims(const TensorType& slopes, const TensorType& self) {
  if (slopes.dims.empty() || slopes.dims[0] == Dim(1)) return {1};
  Dims dims{slopes.dims[0]};
  for (size_t axis = 2; axis < self.rank(); ++axis) dims.emplace_back(1);
  return dims;
}

void require_slopes(const OpArguments& args, const TensorType& self, const TensorType& slopes) {
  require_rank(args, self, 0, kHighestRank);
  require_rank(args, slopes, 0, 1);
  const Dim channels = self.rank() > 1 ? self.dims[1] : Dim(1);
  const Dim count = product(slopes.dims);
  args.require(count == Dim(1) || count == channels, fmt::format("{} slopes for {}", count.text(), to_text(self)),
               fmt::format("1, or {}, one for each channel", channels.text()));
}

std::vector<ValueType> prelu_type(const OpArguments& args) {
  const TensorType self = args.tensor("self");
  const TensorType slopes = args.tensor("weight");
  require_float(args, self);
  require_float(args, slopes);
  require_slopes(args, self, slopes);
  return {self};
}

std::vector<ValueType> quantized_prelu_type(const OpArguments& args) {
  const TensorType slopes = args.tensor("weight");
  args.require(slopes.dtype == at::kQUInt8, "slopes " + to_text(slopes), "quint8");
  require_slopes(args, args.tensor("qx"), slopes);
  return given_quantization(args);
}

void lower_prelu(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  const Dims dims = slope_dims(ctx.tensor("weight"), x.type());
  if (!ctx.is_constant("weight")) {
    const Expression slopes = reshape(argument(ctx, "weight"), dims);
    if (ctx.can_use(OperationCode::PRELU, kPreluLevel)) return x.then(OperationCode::PRELU, {slopes.id()}).set_output();
    return leaky(x, slopes, 1 - slopes).set_output();
  }
  const auto constant_slopes = [&](const at::Tensor& values) -> Expression {
    return {ctx, {ctx.constant_operand(values.reshape(fixed_values(dims))), {at::kFloat, dims, {}}}};
  };
  const at::Tensor slopes = ctx.float_constant("weight");
  if (ctx.can_use(OperationCode::PRELU, kPreluLevel)) {
    return x.then(OperationCode::PRELU, {constant_slopes(slopes).id()}).set_output();
  }
  leaky(x, constant_slopes(slopes), constant_slopes(1 - slopes)).set_output();
}

void lower_quantized_prelu(OpContext& ctx) {
  const Expression x = argument(ctx, "qx");
  const TensorType type = ctx.tensor("weight");
  const Dims dims = slope_dims(type, x.type());
  const auto slopes = [&]() -> Expression {
    if (!ctx.is_constant("weight")) return reshape(argument(ctx, "weight"), dims);
    const at::Tensor values = ctx.constant("weight").reshape(fixed_values(dims));
    return {ctx, {ctx.constant_operand(values), {at::kQUInt8, dims, type.quantization}}};
  };
  x.then(OperationCode::PRELU, {slopes().id()}, ctx.output_type()).set_output();
}

// Returns 1 where x is above the bound, else 0.
Expression is_above(const Expression& x, double bound) {
  return cast(compare(OperationCode::GREATER, x, x.same(bound)), at::kFloat);
}

// threshold: x where it is above the threshold, else the value.
void lower_threshold(OpContext& ctx) {
  const double threshold = ctx.number("threshold");
  const double value = ctx.number("value");
  const Expression x = argument(ctx, tensor_name(ctx));
  if (threshold == 0 && value == 0) return relu(x).set_output();
  const Expression real = dequantize(x);
  if (threshold == value) return maximum(real, value).set_output();
  ((real - value) * is_above(real, threshold) + value).set_output();
}

void lower_hardshrink(OpContext& ctx) {
  const Expression x = argument(ctx, "self");
  (x * is_above(abs(x), ctx.number("lambd"))).set_output();
}

// softshrink: x without its part between -lambd and lambd.
void lower_softshrink(OpContext& ctx) {
  const double width = ctx.number("lambd");
  const Expression x = argument(ctx, "self");
  if (ctx.can_use(OperationCode::MAXIMUM, kMaximumLevel)) return (x - clamp(x, {-width, width})).set_output();
  (relu(x - width) - relu(-x - width)).set_output();
}

}  // namespace

OpRules activation_rules() {
  const char* bounds_note = "quint8: feature level 3 except for the bounds of relu, relu6 and (-1, 1)";
  return {
      {"aten::relu(Tensor self) -> Tensor", 1, "", float_or_quantized_self, lower_direct<OperationCode::RELU>,
       kElementwise | Memory::kFresh | Quantised::kKept | Fact::kKeepsChannels},
      {"aten::relu6(Tensor self) -> Tensor", 1, "", float_or_quantized_self, lower_direct<OperationCode::RELU6>,
       kElementwise | Fact::kKeepsChannels},
      {"quantized::relu6(Tensor qx, bool inplace=False) -> Tensor", 1, "quint8", float_or_quantized_self,
       lower_direct<OperationCode::RELU6>, kUnprovedRows},
      {"aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", 1, bounds_note, clamp_type,
       lower_clamp, kElementwise | Quantised::kKept | Fact::kKeepsChannels},
      {"aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", 1, bounds_note, clamp_type,
       lower_clamp, kElementwise | Quantised::kKept | Fact::kTakesAnyNumber},
      {"quantized::clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy", 1, bounds_note, clamp_type,
       lower_clamp, kUnprovedRows},
      {"aten::clamp_min(Tensor self, Scalar min) -> Tensor", 1, "float32, or integers", clamp_type, lower_clamp,
       kElementwise | Fact::kTakesAnyNumber},
      {"aten::clamp_max(Tensor self, Scalar max) -> Tensor", 1, "float32, or integers", clamp_type, lower_clamp,
       kElementwise | Fact::kTakesAnyNumber},
      {"aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", 1, "float32, or integers",
       clamp_tensor_type, lower_clamp_tensor, kElementwise | Quantised::kKept | Fact::kTakesAnyNumber},
      {"aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", 1, "float32, or integers", clamp_tensor_type,
       lower_clamp_tensor, kElementwise | Fact::kTakesAnyNumber},
      {"aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", 1, "float32, or integers", clamp_tensor_type,
       lower_clamp_tensor, kElementwise | Fact::kTakesAnyNumber},
      {"aten::prelu(Tensor self, Tensor weight) -> Tensor", 1, "float32", prelu_type, lower_prelu, kUnprovedRows},
      {"quantized::prelu(Tensor qx, Tensor weight, float output_scale, int output_zero_point) -> Tensor", kPreluLevel,
       "quint8 slopes", quantized_prelu_type, lower_quantized_prelu, kUnprovedRows},
      {"aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", 1, "quint8: feature level 3",
       float_or_quantized_self, lower_leaky_relu, kElementwise | Fact::kTakesAnyNumber},
      {"quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float output_scale, int "
       "output_zero_point) -> Tensor",
       3, "quint8", given_quantization, lower_leaky_relu, kUnprovedRows},
      {"aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, "
       "Generator? generator=None) -> Tensor",
       1, "float32, evaluation mode", rrelu_type, lower_rrelu, kUnprovedRows},
      {"aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", 1,
       "other numbers than (0, 0): feature level 3", float_or_quantized_self, lower_threshold,
       kElementwise | Fact::kTakesAnyNumber},
      {"quantized::threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy", 1,
       "other numbers than (0, 0): feature level 3", float_or_quantized_self, lower_threshold, kUnprovedRows},
      {"aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", 3, "float32", float_self, lower_hardshrink,
       kUnprovedRows},
      {"aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", 1, "float32", float_self, lower_softshrink,
       kUnprovedRows},
  };
}

}  // namespace nnapi_convert
