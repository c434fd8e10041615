// SPDX-License-Identifier: BSD-3-Clause
// L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION and INSTANCE_NORMALIZATION.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

int64_t normalization_axis(const OpContext& context) {
  const int64_t rank = context.rank("input");
  if (context.feature_level() < 3 && rank != 4) {
    context.refuse("input", "rank {} found, 4 needed below feature level 3", rank);
  }
  return context.has("axis") ? axis_of(context, "axis", rank) : rank - 1;
}

}  // namespace

void l2_normalization_rule(OpContext& context) {
  const OperandCode type = context.type("output");
  if (is_quantized_8bit(type)) {
    require_quantization(context, "output", 1.0f / 128, static_cast<int32_t>(lowest_code(type)) + 128);
  }
  normalization_axis(context);
  context.set_output(context.dims("input"));
}

void l2_normalization(OpContext& context) {
  constexpr double kLeastNorm = 1e-6;
  const at::Tensor input = context.real("input");
  const at::Tensor norm = input.square().sum(normalization_axis(context), true).sqrt_().clamp_min_(kLeastNorm);
  context.store(input.div(norm));
}

void local_response_normalization_rule(OpContext& context) {
  const int64_t radius = context.integer("radius");
  if (radius < 0) context.refuse("radius", "{} found, at least 0 needed", radius);
  for (const char* name : {"bias", "alpha", "beta"}) context.number(name);
  normalization_axis(context);
  context.set_output(context.dims("input"));
}

void local_response_normalization(OpContext& context) {
  const int64_t axis = normalization_axis(context);
  const at::Tensor input = context.real("input");
  const int64_t extent = input.size(axis);
  const int64_t radius = std::min(context.integer("radius"), extent);
  const at::Tensor squares = input.square();
  at::Tensor sums = at::zeros_like(input);
  for (int64_t offset = -radius; offset <= radius; ++offset) {
    const int64_t length = extent - std::abs(offset);
    if (length <= 0) continue;
    sums.narrow(axis, std::max<int64_t>(0, -offset), length)
        .add_(squares.narrow(axis, std::max<int64_t>(0, offset), length));
  }
  const at::Tensor base = sums.mul_(context.number("alpha")).add_(context.number("bias"));
  context.store(input.div(base.pow_(context.number("beta"))));
}

void instance_normalization_rule(OpContext& context) {
  for (const char* name : {"gamma", "beta", "epsilon"}) context.number(name);
  context.flag("layout");
  context.set_output(context.dims("input"));
}

void instance_normalization(OpContext& context) {
  const Image image = image_of(context, "input");
  const at::Tensor input = to_nchw(context.real("input"), image);
  const at::Tensor spread = input.sub(input.mean({2, 3}, true));
  const at::Tensor variance = spread.square().mean({2, 3}, true).add_(context.number("epsilon"));
  const at::Tensor output = spread.div(variance.sqrt_()).mul_(context.number("gamma")).add_(context.number("beta"));
  context.store(from_nchw(output, image));
}

}  // namespace nnapi_convert::host
