// SPDX-License-Identifier: BSD-3-Clause
// FULLY_CONNECTED and BATCH_MATMUL.
#include <ATen/Parallel.h>

#include <algorithm>

#include "lib/host_runtime/axes.h"
#include "lib/host_runtime/exact_convolution.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/quantization.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

template <typename Code>
int64_t dot(const int16_t* x, const Code* weights, int64_t zero_point, int64_t depth) {
  // Short blocks keep 32-bit sums from overflowing.
  constexpr int64_t kBlock = 16384;
  int64_t total = 0, inputs = 0;
  for (int64_t begin = 0; begin < depth; begin += kBlock) {
    const int64_t end = std::min(depth, begin + kBlock);
    int32_t sum = 0, input_sum = 0;
    for (int64_t k = begin; k < end; ++k) {
      sum += static_cast<int32_t>(x[k]) * static_cast<int32_t>(weights[k]);
      input_sum += x[k];
    }
    total += sum;
    inputs += input_sum;
  }
  return total - zero_point * inputs;
}

template <typename Code>
void fill_sums(const at::Tensor& x, const at::Tensor& weights, int64_t zero_point, at::Tensor& sums) {
  const int64_t batch = x.size(0), depth = x.size(1), units = weights.size(0);
  const int16_t* inputs = x.data_ptr<int16_t>();
  const Code* rows = weights.data_ptr<Code>();
  double* to = sums.data_ptr<double>();
  at::parallel_for(0, units, 16, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      for (int64_t b = 0; b < batch; ++b) {
        to[b * units + unit] = static_cast<double>(dot(inputs + b * depth, rows + unit * depth, zero_point, depth));
      }
    }
  });
}

at::Tensor integer_sums(const OpContext& context, const at::Tensor& x) {
  const at::Tensor weights = context.stored("weights").contiguous();
  const int32_t zero_point = context.operand("weights").zero_point;
  at::Tensor sums = at::empty({x.size(0), weights.size(0)}, at::TensorOptions(at::kDouble));
  if (weights.scalar_type() == at::kByte) {
    fill_sums<uint8_t>(x, weights, zero_point, sums);
  } else {
    fill_sums<int8_t>(x, weights, zero_point, sums);
  }
  return sums;
}

// Returns input [rows, depth] x transposed weights [units, depth] + bias. Computes many rows with oneDNN, as the pixels
// of a 1x1 convolution: that is many times faster than an untuned BLAS.
at::Tensor weighted_sums(const at::Tensor& input, const at::Tensor& weights, const at::Tensor& bias) {
  constexpr int64_t kManyRows = 8;
  const int64_t rows = input.size(0), depth = input.size(1), units = weights.size(0);
  if (rows < kManyRows) return at::linear(input, weights, bias);
  const at::Tensor pixels = input.contiguous().view({1, rows, 1, depth}).permute({0, 3, 1, 2});
  const at::Tensor filter = weights.contiguous().view({units, depth, 1, 1});
  return convolve(pixels, filter, bias, {}).permute({0, 2, 3, 1}).reshape({rows, units});
}

// Multiplies the pairs of Float matrices one after the other.
at::Tensor batch_products(const at::Tensor& a, const at::Tensor& b, const Dims& output_dims) {
  const Dims batch(output_dims.begin(), output_dims.end() - 2);
  const auto expanded = [&](const at::Tensor& tensor) {
    Dims dims = batch;
    dims.insert(dims.end(), {tensor.size(-2), tensor.size(-1)});
    return tensor.expand(dims).reshape({-1, tensor.size(-2), tensor.size(-1)});
  };
  const at::Tensor first = expanded(a), second = expanded(b);
  at::Tensor output = at::empty({first.size(0), first.size(1), second.size(2)}, first.options());
  for (int64_t i = 0; i < output.size(0); ++i) {
    output.select(0, i).copy_(weighted_sums(first.select(0, i), second.select(0, i).t(), {}));
  }
  return output.view(output_dims);
}

Dims batch_of(const Dims& dims) {
  return Dims(dims.begin(), dims.end() - 2);
}

at::Tensor adjoint(const at::Tensor& tensor, bool wanted) {
  return wanted ? tensor.transpose(-2, -1) : tensor;
}

}  // namespace

void fully_connected_rule(OpContext& context) {
  check_weighted_quantization(context, "weights");
  activation_of(context);
  const Dims& weights = context.dims("weights");
  const Dims& input = context.dims("input");
  int64_t elements = 1;
  for (const int64_t extent : input) elements *= extent;
  if (weights[1] == 0 || elements % weights[1] != 0) {
    context.refuse("input", "{} elements found, a multiple of the weights' {} columns needed", elements, weights[1]);
  }
  check_bias_extent(context, weights[0]);
  context.set_output({elements / weights[1], weights[0]});
}

void fully_connected(OpContext& context) {
  const Dims& weights = context.dims("weights");
  const FuseCode activation = activation_of(context);
  if (!is_quantized_8bit(context.type("input"))) {
    const at::Tensor input = context.real("input").reshape({-1, weights[1]});
    return context.store(activate(weighted_sums(input, context.real("weights"), context.real("bias")), activation));
  }
  const at::Tensor codes = context.stored("input").reshape({-1, weights[1]}).to(at::kShort);
  const at::Tensor input = codes.sub(context.operand("input").zero_point).contiguous();
  context.put(requantize(integer_sums(context, input), context.stored("bias"),
                         multipliers_of(context, "weights", weights[0]), 1, context.operand("output"), activation));
}

void batch_matmul_rule(OpContext& context) {
  Dims a = context.dims("input1"), b = context.dims("input2");
  if (context.flag("adjoint1")) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (context.flag("adjoint2")) std::swap(b[b.size() - 1], b[b.size() - 2]);
  if (a.back() != b[b.size() - 2]) {
    context.refuse("input2", "dimensions {} found, {} rows needed", to_string(b), a.back());
  }
  Dims first = batch_of(a), second = batch_of(b);
  while (first.size() < second.size()) first.insert(first.begin(), 1);
  while (second.size() < first.size()) second.insert(second.begin(), 1);
  Dims output;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != second[i] && first[i] != 1 && second[i] != 1) {
      context.refuse("input2", "dimensions {} found, {} of input1 cannot be broadcast with them", to_string(b),
                     to_string(a));
    }
    output.push_back(first[i] == 1 ? second[i] : first[i]);
  }
  output.push_back(a[a.size() - 2]);
  output.push_back(b.back());
  context.set_output(output);
}

void batch_matmul(OpContext& context) {
  const bool first = context.flag("adjoint1"), second = context.flag("adjoint2");
  if (context.type("input1") == OperandCode::TENSOR_INT32) {
    return context.put(at::matmul(adjoint(context.stored("input1"), first), adjoint(context.stored("input2"), second)));
  }
  const at::Tensor a = adjoint(context.real("input1"), first), b = adjoint(context.real("input2"), second);
  const bool floats = a.scalar_type() == at::kFloat;
  context.store(floats ? batch_products(a, b, context.dims("output")) : at::matmul(a, b));
}

}  // namespace nnapi_convert::host
