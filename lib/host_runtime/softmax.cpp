// SPDX-License-Identifier: BSD-3-Clause
// SOFTMAX and LOG_SOFTMAX.
#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

int64_t softmax_axis(const OpContext& context) {
  return context.has("axis") ? axis_of(context, "axis", context.rank("input")) : context.rank("input") - 1;
}

}  // namespace

void softmax_rule(OpContext& context) {
  const OperandCode type = context.type("output");
  if (is_quantized_8bit(type)) {
    require_quantization(context, "output", 1.0f / 256, static_cast<int32_t>(lowest_code(type)));
  }
  const double beta = context.number("beta");
  if (beta <= 0) context.refuse("beta", "{} found, more than 0 needed", beta);
  const int64_t rank = context.rank("input");
  if (context.feature_level() < 3 && rank != 2 && rank != 4) {
    context.refuse("input", "rank {} found, 2 or 4 needed below feature level 3", rank);
  }
  softmax_axis(context);
  context.set_output(context.dims("input"));
}

void softmax(OpContext& context) {
  const at::Tensor scaled = context.real("input").mul(context.number("beta"));
  context.store(at::softmax(scaled, softmax_axis(context)));
}

void log_softmax(OpContext& context) {
  const at::Tensor scaled = context.real("input").mul(context.number("beta"));
  context.store(at::log_softmax(scaled, softmax_axis(context)));
}

}  // namespace nnapi_convert::host
