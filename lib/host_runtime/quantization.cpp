// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/quantization.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "lib/host_runtime/fixed_point.h"
#include "lib/host_runtime/log.h"
#include "lib/host_runtime/storage.h"
#include "lib/host_runtime/vectorised.h"

namespace nnapi_convert::host {
namespace {

constexpr int64_t kGrain = 16384;
constexpr double kLargestFloat = std::numeric_limits<float>::max();

at::Tensor per_channel_numbers(const at::Tensor& codes, const Operand& operand) {
  std::vector<int64_t> shape(static_cast<std::size_t>(codes.dim()), 1);
  shape[operand.channels->dim] = static_cast<int64_t>(operand.channels->scales.size());
  const at::Tensor scales = at::tensor(operand.channels->scales, at::kDouble).view(shape);
  return codes.to(at::kDouble).mul(scales);
}

// Rounds halves away from zero, for numbers in the range of codes. Faster than std::round, which is a library call.
int64_t round_small(double number) {
  return static_cast<int64_t>(number + (number < 0 ? -0.5 : 0.5));
}

// Divides in the precision of `Number`: Android's reference divides float by float, which changes where halves lie.
template <typename Number>
int64_t rounded(Number number, const Operand& operand) {
  const double code = number / static_cast<Number>(operand.scale);
  if (std::isnan(code)) return highest_code(operand.type);
  const double low = static_cast<double>(lowest_code(operand.type) - operand.zero_point);
  const double high = static_cast<double>(highest_code(operand.type) - operand.zero_point);
  return round_small(std::clamp(code, low, high)) + operand.zero_point;
}

template <typename From, typename Code>
void round_all(const at::Tensor& numbers, at::Tensor& codes, const Operand& operand) {
  const From* from = numbers.data_ptr<From>();
  Code* to = codes.data_ptr<Code>();
  at::parallel_for(0, numbers.numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<Code>(rounded(from[i], operand));
  });
}

template <typename From>
at::Tensor quantize(const at::Tensor& numbers, const Operand& operand) {
  at::Tensor codes = at::empty(numbers.sizes(), at::TensorOptions(storage_type(operand.type)));
  if (codes.scalar_type() == at::kByte) round_all<From, uint8_t>(numbers, codes, operand);
  if (codes.scalar_type() == at::kChar) round_all<From, int8_t>(numbers, codes, operand);
  if (codes.scalar_type() == at::kShort) round_all<From, int16_t>(numbers, codes, operand);
  return codes;
}

struct Clamp {
  int64_t low, high;
};

Clamp clamp_of(FuseCode activation, const Operand& output) {
  const int64_t low = lowest_code(output.type), high = highest_code(output.type);
  const auto code = [&](double number) { return to_code(number, output); };
  switch (activation) {
    case FuseCode::RELU:
      return {code(0), high};
    case FuseCode::RELU1:
      return {code(-1), code(1)};
    case FuseCode::RELU6:
      return {code(0), code(6)};
    case FuseCode::NONE:
      break;
  }
  return {low, high};
}

struct Requantization {
  const std::vector<double>& multipliers;
  const int32_t* bias;
  int64_t inner;
  int32_t zero_point;
  Clamp clamp;
  bool rounds_twice;
};

bool rounds_twice() {
  const char* text = std::getenv("NNAPI_HOST_ROUNDING");
  if (text == nullptr || *text == '\0') return false;
  if (std::strcmp(text, "twice") == 0) return true;
  complain_of_variable("NNAPI_HOST_ROUNDING", text, "twice needed; products are rounded once");
  return false;
}

// Bounds of codes without their zero point.
struct Bounds {
  double low, high;
  int32_t zero_point;
};

Bounds bounds_of(const Requantization& how) {
  return {static_cast<double>(how.clamp.low - how.zero_point), static_cast<double>(how.clamp.high - how.zero_point),
          how.zero_point};
}

// Requantises one sum. Rounds as round_small() does, but in 32 bits, for which there are vector instructions.
template <typename Code, typename Sum>
Code requantized(Sum sum, int32_t bias, double multiplier, const Bounds& bounds) {
  double code = (static_cast<double>(sum) + bias) * multiplier;
  code = code < bounds.low ? bounds.low : code;
  code = code > bounds.high ? bounds.high : code;
  return static_cast<Code>(static_cast<int32_t>(code + (code < 0 ? -0.5 : 0.5)) + bounds.zero_point);
}

// Requantises sums of one channel.
template <typename Sum, typename Code>
NNAPI_HOST_VECTORISED void requantize_channel(const Sum* __restrict sums, int64_t count, int32_t bias,
                                              double multiplier, const Bounds bounds, Code* __restrict codes) {
  for (int64_t i = 0; i < count; ++i) codes[i] = requantized<Code>(sums[i], bias, multiplier, bounds);
}

// Requantises one sum of each channel.
template <typename Sum, typename Code>
NNAPI_HOST_VECTORISED void requantize_channels(const Sum* __restrict sums, int64_t count,
                                               const int32_t* __restrict bias, const double* __restrict multipliers,
                                               const Bounds bounds, Code* __restrict codes) {
  for (int64_t i = 0; i < count; ++i) codes[i] = requantized<Code>(sums[i], bias[i], multipliers[i], bounds);
}

// Rounds a channel's sums to 31 bits of a product with the multiplier's mantissa, and these to codes, halves away from
// zero both times.
template <typename Sum, typename Code>
void requantize_twice(const Sum* sums, int64_t count, int32_t bias, double multiplier, const Bounds& bounds,
                      Code* codes) {
  const Multiplier factor = multiplier_of(multiplier);
  const auto low = static_cast<int32_t>(bounds.low), high = static_cast<int32_t>(bounds.high);
  for (int64_t i = 0; i < count; ++i) {
    const int32_t code = multiplied(saturated_32(static_cast<int64_t>(sums[i]) + bias), factor);
    codes[i] = static_cast<Code>(std::clamp(code, low, high) + bounds.zero_point);
  }
}

template <typename Sum, typename Code>
void requantize_row(const Sum* sums, int64_t row, int64_t channel, const Requantization& how, const Bounds& bounds,
                    Code* codes) {
  const bool is_one_channel = how.inner > 1;
  if (how.rounds_twice) {
    const int64_t channels = is_one_channel ? 1 : row;
    for (int64_t i = 0; i < channels; ++i) {
      const int64_t c = channel + i;
      requantize_twice(sums + i, is_one_channel ? row : 1, how.bias[c], how.multipliers[static_cast<std::size_t>(c)],
                       bounds, codes + i);
    }
  } else if (is_one_channel) {
    requantize_channel(sums, row, how.bias[channel], how.multipliers[static_cast<std::size_t>(channel)], bounds, codes);
  } else {
    requantize_channels(sums, row, how.bias, how.multipliers.data(), bounds, codes);
  }
}

template <typename Sum, typename Code>
void requantize_all(const at::Tensor& sums, at::Tensor& codes, const Requantization& how) {
  const Sum* from = sums.data_ptr<Sum>();
  Code* to = codes.data_ptr<Code>();
  const int64_t channels = static_cast<int64_t>(how.multipliers.size());
  const bool is_one_channel = how.inner > 1;  // a row holds sums of one channel
  const int64_t row = is_one_channel ? how.inner : channels;
  if (row == 0) return;
  const Bounds bounds = bounds_of(how);
  at::parallel_for(0, sums.numel() / row, std::max<int64_t>(1, kGrain / row), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      requantize_row(from + r * row, row, is_one_channel ? r % channels : 0, how, bounds, to + r * row);
    }
  });
}

template <typename Sum>
at::Tensor requantize_sums(const at::Tensor& sums, const Requantization& how, OperandCode type) {
  at::Tensor codes = at::empty(sums.sizes(), at::TensorOptions(storage_type(type)));
  if (type == OperandCode::TENSOR_QUANT8_ASYMM) {
    requantize_all<Sum, uint8_t>(sums, codes, how);
  } else {
    requantize_all<Sum, int8_t>(sums, codes, how);
  }
  return codes;
}

}  // namespace

double to_number(int64_t code, const Operand& operand) {
  return (static_cast<double>(code) - operand.zero_point) * static_cast<double>(operand.scale);
}

int64_t to_code(double number, const Operand& operand) {
  return rounded(static_cast<float>(number), operand);
}

at::Tensor to_numbers(const at::Tensor& codes, const Operand& operand) {
  if (is_float_tensor(operand.type)) return codes.to(at::kFloat);
  if (operand.channels) return per_channel_numbers(codes, operand);
  if (operand.type == OperandCode::TENSOR_INT32 || operand.type == OperandCode::TENSOR_BOOL8)
    return codes.to(at::kDouble);
  at::Tensor numbers = codes.to(at::kDouble);
  if (operand.type == OperandCode::TENSOR_QUANT16_ASYMM)
    numbers = codes.to(at::kInt).bitwise_and(0xffff).to(at::kDouble);
  return numbers.sub_(operand.zero_point).mul_(static_cast<double>(operand.scale));
}

at::Tensor to_codes(const at::Tensor& numbers, const Operand& operand) {
  switch (operand.type) {
    case OperandCode::TENSOR_FLOAT32:
    case OperandCode::TENSOR_FLOAT16:
    case OperandCode::TENSOR_INT32:
      return numbers.to(storage_type(operand.type));
    case OperandCode::TENSOR_BOOL8:
      return numbers.ne(0).to(at::kByte);
    default:
      break;
  }
  const at::Tensor contiguous = numbers.contiguous();
  if (contiguous.scalar_type() == at::kFloat) return quantize<float>(contiguous, operand);
  return quantize<double>(contiguous.to(at::kDouble), operand);
}

at::Tensor to_shifted_codes(const at::Tensor& numbers, const Operand& operand) {
  if (is_float_tensor(operand.type)) return to_codes(numbers, operand);
  const at::Tensor codes = numbers.div(static_cast<double>(operand.scale)).add_(operand.zero_point);
  return round_codes(codes, operand, FuseCode::NONE);
}

at::Tensor map_codes(const at::Tensor& codes, const Operand& input, const Operand& output,
                     const std::function<double(double)>& function) {
  std::array<uint8_t, 256> table{};
  for (int64_t code = lowest_code(input.type); code <= highest_code(input.type); ++code) {
    table[static_cast<uint8_t>(code)] = static_cast<uint8_t>(to_code(function(to_number(code, input)), output));
  }
  const at::Tensor from = codes.contiguous();
  at::Tensor to = at::empty(from.sizes(), at::TensorOptions(storage_type(output.type)));
  const auto* source = static_cast<const uint8_t*>(from.data_ptr());
  auto* target = static_cast<uint8_t*>(to.data_ptr());
  for (int64_t i = 0; i < from.numel(); ++i) target[i] = table[source[i]];
  return to;
}

at::Tensor activate(at::Tensor numbers, FuseCode activation) {
  switch (activation) {
    case FuseCode::RELU:
      return numbers.clamp_(0, kLargestFloat);
    case FuseCode::RELU1:
      return numbers.clamp_(-1, 1);
    case FuseCode::RELU6:
      return numbers.clamp_(0, 6);
    case FuseCode::NONE:
      break;
  }
  return numbers.clamp_(-kLargestFloat, kLargestFloat);
}

at::Tensor activate_state(at::Tensor numbers, FuseCode activation) {
  switch (activation) {
    case FuseCode::RELU:
      return numbers.clamp_min_(0);
    case FuseCode::RELU1:
      return numbers.clamp_(-1, 1);
    case FuseCode::RELU6:
      return numbers.clamp_(0, 6);
    case FuseCode::NONE:
      break;
  }
  return numbers;
}

at::Tensor to_activated_codes(const at::Tensor& numbers, const Operand& operand, FuseCode activation) {
  if (!is_quantized_8bit(operand.type)) return to_codes(activate(numbers, activation), operand);
  const Clamp clamp = clamp_of(activation, operand);
  return to_codes(numbers, operand).clamp_(clamp.low, clamp.high);
}

at::Tensor round_codes(const at::Tensor& codes, const Operand& output, FuseCode activation) {
  const Clamp clamp = clamp_of(activation, output);
  Operand whole = output;
  whole.scale = 1;
  whole.zero_point = 0;
  return to_codes(codes.clamp(clamp.low, clamp.high), whole);
}

at::Tensor requantize(const at::Tensor& sums, const at::Tensor& bias, const std::vector<double>& multipliers,
                      int64_t inner, const Operand& output, FuseCode activation) {
  const at::Tensor offsets = bias.contiguous();
  const Requantization how{multipliers,       offsets.data_ptr<int32_t>(),  inner,
                           output.zero_point, clamp_of(activation, output), rounds_twice()};
  if (sums.scalar_type() == at::kFloat) return requantize_sums<float>(sums, how, output.type);
  return requantize_sums<double>(sums, how, output.type);
}

bool same_quantization(const Operand& a, const Operand& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point;
}

}  // namespace nnapi_convert::host
