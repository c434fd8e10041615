// SPDX-License-Identifier: BSD-3-Clause
// Elementwise operations on one tensor: rows of a table.
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"
#include "lib/host_runtime/vectorised.h"

namespace nnapi_convert::host {
namespace {

constexpr int64_t kGrain = 16384;

enum class OutputScale { kAny, kAsInput, kUnit, kSymmetricUnit };

struct Unary {
  OperationCode code;
  OutputScale scale;
  at::Tensor (*of_tensor)(const at::Tensor&);
  double (*of_number)(double);  // for quantised types
};

NNAPI_HOST_VECTORISED void bound_all(const float* from, float* to, int64_t count, float low, float high) {
  for (int64_t i = 0; i < count; ++i) {
    const float raised = from[i] > low ? from[i] : low;
    to[i] = raised < high ? raised : high;
  }
}

// Clamps to [low, high]. As in Android's reference, NaN becomes `low`, and RELU lowers infinity to the largest float32.
at::Tensor bounded(const at::Tensor& x, float low, float high) {
  const at::Tensor from = x.contiguous();
  at::Tensor to = at::empty_like(from);
  at::parallel_for(0, from.numel(), kGrain, [&](int64_t begin, int64_t end) {
    bound_all(from.data_ptr<float>() + begin, to.data_ptr<float>() + begin, end - begin, low, high);
  });
  return to;
}

double hard_swish(double x) {
  return x * std::clamp(x + 3, 0.0, 6.0) / 6;
}

const Unary kUnary[] = {
    {OperationCode::ABS, OutputScale::kAny, [](const at::Tensor& x) { return x.abs(); }, nullptr},
    {OperationCode::EXP, OutputScale::kAny, [](const at::Tensor& x) { return x.exp(); }, nullptr},
    {OperationCode::FLOOR, OutputScale::kAny, [](const at::Tensor& x) { return x.floor(); }, nullptr},
    {OperationCode::HARD_SWISH, OutputScale::kAny,
     [](const at::Tensor& x) { return x.add(3).clamp_(0, 6).mul_(x).div_(6); }, hard_swish},
    {OperationCode::LOG, OutputScale::kAny, [](const at::Tensor& x) { return x.log(); }, nullptr},
    {OperationCode::LOGICAL_NOT, OutputScale::kAny, [](const at::Tensor& x) { return x.eq(0).to(at::kByte); }, nullptr},
    {OperationCode::LOGISTIC, OutputScale::kUnit, [](const at::Tensor& x) { return x.sigmoid(); },
     [](double x) { return 1 / (1 + std::exp(-x)); }},
    {OperationCode::NEG, OutputScale::kAny, [](const at::Tensor& x) { return x.neg(); }, nullptr},
    {OperationCode::RELU, OutputScale::kAsInput,
     [](const at::Tensor& x) { return bounded(x, 0, std::numeric_limits<float>::max()); },
     [](double x) { return std::max(x, 0.0); }},
    {OperationCode::RELU1, OutputScale::kAsInput, [](const at::Tensor& x) { return bounded(x, -1, 1); },
     [](double x) { return std::clamp(x, -1.0, 1.0); }},
    {OperationCode::RELU6, OutputScale::kAsInput, [](const at::Tensor& x) { return bounded(x, 0, 6); },
     [](double x) { return std::clamp(x, 0.0, 6.0); }},
    {OperationCode::RSQRT, OutputScale::kAny, [](const at::Tensor& x) { return x.rsqrt(); },
     [](double x) { return 1 / std::sqrt(x); }},
    {OperationCode::SIN, OutputScale::kAny, [](const at::Tensor& x) { return x.sin(); }, nullptr},
    {OperationCode::SQRT, OutputScale::kAny, [](const at::Tensor& x) { return x.sqrt(); }, nullptr},
    {OperationCode::TANH, OutputScale::kSymmetricUnit, [](const at::Tensor& x) { return x.tanh(); },
     [](double x) { return std::tanh(x); }},
};

const Unary& find(const OpContext& context) {
  const auto* row =
      std::find_if(std::begin(kUnary), std::end(kUnary), [&](const Unary& u) { return u.code == context.code(); });
  TORCH_INTERNAL_ASSERT(row != std::end(kUnary), name_of(context.code()), " has no row");
  return *row;
}

}  // namespace

void unary_rule(OpContext& context) {
  const OperandCode type = context.type("output");
  if (is_quantized_8bit(type)) {
    const int32_t lowest = static_cast<int32_t>(lowest_code(type));
    const OutputScale scale = find(context).scale;
    if (scale == OutputScale::kAsInput) require_same_quantization(context, "input", "output");
    if (scale == OutputScale::kUnit) require_quantization(context, "output", 1.0f / 256, lowest);
    if (scale == OutputScale::kSymmetricUnit) require_quantization(context, "output", 1.0f / 128, lowest + 128);
  }
  context.set_output(context.dims("input"));
}

void unary(OpContext& context) {
  const Unary& row = find(context);
  const Operand& input = context.operand("input");
  if (is_quantized_8bit(input.type)) {
    return context.put(map_codes(context.stored("input"), input, context.operand("output"), row.of_number));
  }
  if (!is_float_tensor(input.type)) return context.put(row.of_tensor(context.stored("input")));
  context.store(row.of_tensor(context.real("input")));
}

void elu_rule(OpContext& context) {
  context.number("alpha");
  context.set_output(context.dims("input"));
}

// ELU. NaN becomes 0, as in Android's reference.
void elu(OpContext& context) {
  const at::Tensor input = context.real("input");
  context.store(at::elu(input.masked_fill(input.isnan(), 0), context.number("alpha")));
}

}  // namespace nnapi_convert::host
