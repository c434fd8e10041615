// SPDX-License-Identifier: BSD-3-Clause
// PAD, PAD_V2 and MIRROR_PAD.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

constexpr int64_t kReflect = 0, kSymmetric = 1;

// Returns [head, tail] of each axis.
Dims paddings_of(const OpContext& context) {
  const Dims& shape = context.dims("paddings");
  if (shape[0] != context.rank("input") || shape[1] != 2) {
    context.refuse("paddings", "dimensions {} found, [{}, 2] needed", to_string(shape), context.rank("input"));
  }
  Dims paddings = context.integers("paddings");
  for (const int64_t padding : paddings) {
    if (padding < 0) context.refuse("paddings", "{} found, at least 0 needed", padding);
  }
  return paddings;
}

void set_padded_output(OpContext& context, const Dims& paddings) {
  Dims output = context.dims("input");
  for (std::size_t i = 0; i < output.size(); ++i) output[i] += paddings[2 * i] + paddings[2 * i + 1];
  context.set_output(output);
}

}  // namespace

void pad_rule(OpContext& context) {
  require_paddable(context);
  require_same_quantization(context, "input", "output");
  const Dims paddings = paddings_of(context);
  if (context.has("pad_value")) context.number("pad_value");
  set_padded_output(context, paddings);
}

void pad(OpContext& context) {
  const Dims paddings = paddings_of(context);
  Dims innermost_first;
  for (std::size_t i = paddings.size() / 2; i-- > 0;) {
    innermost_first.push_back(paddings[2 * i]);
    innermost_first.push_back(paddings[2 * i + 1]);
  }
  // A quantised value is given as a code; without one the padding stands for 0.
  const double value = context.has("pad_value") ? context.number("pad_value") : context.operand("input").zero_point;
  context.put(at::constant_pad_nd(context.stored("input"), innermost_first, value));
}

void mirror_pad_rule(OpContext& context) {
  require_same_quantization(context, "input", "output");
  const int64_t mode = context.integer("mode");
  if (mode != kReflect && mode != kSymmetric) {
    context.refuse("mode", "{} found, 0 (REFLECT) or 1 (SYMMETRIC) needed", mode);
  }
  const Dims paddings = paddings_of(context);
  const Dims& input = context.dims("input");
  for (std::size_t i = 0; i < paddings.size(); ++i) {
    const int64_t most = input[i / 2] - (mode == kReflect ? 1 : 0);
    if (paddings[i] > most) context.refuse("paddings", "{} found, at most {} needed", paddings[i], most);
  }
  set_padded_output(context, paddings);
}

void mirror_pad(OpContext& context) {
  const Dims paddings = paddings_of(context);
  const int64_t repeat = context.integer("mode") == kSymmetric ? 1 : 0;  // is the edge itself repeated
  at::Tensor result = context.stored("input");
  for (int64_t axis = 0; axis < result.dim(); ++axis) {
    const int64_t head = paddings[static_cast<std::size_t>(2 * axis)];
    const int64_t tail = paddings[static_cast<std::size_t>(2 * axis + 1)];
    const int64_t extent = result.size(axis);
    std::vector<int64_t> sources;
    for (int64_t i = -head; i < extent + tail; ++i) {
      int64_t source = i < 0 ? -i - repeat : i;
      if (i >= extent) source = 2 * extent - 2 - i + repeat;
      sources.push_back(source);
    }
    result = at::index_select(result, axis, at::tensor(sources, at::kLong));
  }
  context.put(result);
}

}  // namespace nnapi_convert::host
