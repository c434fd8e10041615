// SPDX-License-Identifier: BSD-3-Clause
// MEAN, REDUCE_*, ARGMAX, ARGMIN and TOPK_V2.
#include <algorithm>
#include <limits>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

// Returns the number from which Android's reference starts its search for a minimum; for a maximum it starts from the
// negative. No result is beyond the start, and NaN is never chosen.
double first_extreme(const at::Tensor& stored) {
  return stored.scalar_type() == at::kHalf ? 65504 : std::numeric_limits<float>::max();
}

at::Tensor within(const at::Tensor& input, double low, double high, double instead_of_nan) {
  return input.masked_fill(input.isnan(), instead_of_nan).clamp_(low, high);
}

// Multiplies the elements along an axis. As in Android's reference, a product with a factor 0 is 0, even if another
// factor is infinite or NaN.
at::Tensor product(const at::Tensor& input, int64_t axis) {
  return at::where(input.eq(0).any(axis, true), at::zeros({}, input.options()), input.prod(axis, true));
}

at::Tensor reduced(OperationCode code, const at::Tensor& input, const Dims& axes) {
  switch (code) {
    case OperationCode::REDUCE_SUM:
      return input.sum(axes, true);
    case OperationCode::REDUCE_MIN:
      return input.amin(axes, true);
    case OperationCode::REDUCE_MAX:
      return input.amax(axes, true);
    default:
      break;
  }
  at::Tensor result = input;
  for (const int64_t axis : axes) {
    if (code == OperationCode::REDUCE_PROD) result = product(result, axis);
    if (code == OperationCode::REDUCE_ALL) result = result.ne(0).all(axis, true).to(at::kByte);
    if (code == OperationCode::REDUCE_ANY) result = result.ne(0).any(axis, true).to(at::kByte);
  }
  return result;
}

}  // namespace

void reduce_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const Dims& input = context.dims("input");
  const Dims axes = axes_of(context, "axes", context.rank("input"));
  if (context.code() == OperationCode::MEAN && axes.empty()) context.refuse("axes", "none found, at least one needed");
  const bool keep = context.flag("keep_dims");
  Dims output;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const bool named = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!named) output.push_back(input[i]);
    if (named && keep) output.push_back(1);
  }
  context.set_output(output.empty() ? Dims{1} : output);
}

void mean(OpContext& context) {
  const Dims axes = axes_of(context, "axes", context.rank("input"));
  if (!is_quantized_8bit(context.type("input"))) {
    return context.store(context.real("input").mean(axes).reshape(context.dims("output")));
  }
  // Input and output have the same scale, so the kernel averages the codes. Android's reference drops the fraction.
  const at::Tensor input = context.stored("input");
  int64_t count = 1;
  for (const int64_t axis : axes) count *= input.size(axis);
  const at::Tensor means = at::div(input.to(at::kLong).sum(axes), std::max<int64_t>(count, 1), "trunc");
  context.put(means.to(input.scalar_type()).reshape(context.dims("output")));
}

void reduce(OpContext& context) {
  const Dims axes = axes_of(context, "axes", context.rank("input"));
  const bool floats = is_float_tensor(context.type("input"));
  at::Tensor input = floats ? context.real("input") : context.stored("input");
  const double infinite = std::numeric_limits<double>::infinity(), first = first_extreme(context.stored("input"));
  if (floats && context.code() == OperationCode::REDUCE_MAX) input = within(input, -first, infinite, -first);
  if (floats && context.code() == OperationCode::REDUCE_MIN) input = within(input, -infinite, first, first);
  const at::Tensor result = axes.empty() ? input : reduced(context.code(), input, axes);
  const at::Tensor shaped = result.reshape(context.dims("output"));
  return floats ? context.store(shaped) : context.put(shaped);
}

void arg_rule(OpContext& context) {
  Dims output = context.dims("input");
  output.erase(output.begin() + axis_of(context, "axis", context.rank("input")));
  context.set_output(output.empty() ? Dims{1} : output);
}

void arg(OpContext& context) {
  const int64_t axis = axis_of(context, "axis", context.rank("input"));
  const bool floats = is_float_tensor(context.type("input")), is_max = context.code() == OperationCode::ARGMAX;
  const at::Tensor input = floats ? context.real("input") : context.stored("input");
  const auto extreme = [&](const at::Tensor& x) { return is_max ? at::argmax(x, axis) : at::argmin(x, axis); };
  if (!floats) return context.put(extreme(input).reshape(context.dims("output")).to(at::kInt));
  // In Android's reference nothing is greater or less than NaN: the first element stays, others are never taken.
  const double infinite = std::numeric_limits<double>::infinity();
  const at::Tensor none = input.isnan();
  const at::Tensor result = extreme(input.masked_fill(none, is_max ? -infinite : infinite));
  context.put(result.masked_fill(none.select(axis, 0), 0).reshape(context.dims("output")).to(at::kInt));
}

void topk_rule(OpContext& context) {
  require_same_quantization(context, "input", "values");
  Dims output = context.dims("input");
  const int64_t k = positive(context, "k");
  if (k > output.back()) context.refuse("k", "{} found, at most {} needed", k, output.back());
  output.back() = k;
  context.set_output(output, 0);
  context.set_output(output, 1);
}

void topk(OpContext& context) {
  const bool floats = is_float_tensor(context.type("input"));
  const at::Tensor input = floats ? context.real("input") : context.stored("input");
  const auto [values, indices] = at::sort(input, /*stable=*/true, /*dim=*/-1, /*descending=*/true);
  const int64_t k = context.integer("k");
  const at::Tensor greatest = values.narrow(-1, 0, k).contiguous();
  floats ? context.store(greatest, 0) : context.put(greatest, 0);
  context.put(indices.narrow(-1, 0, k).to(at::kInt).contiguous(), 1);
}

}  // namespace nnapi_convert::host
