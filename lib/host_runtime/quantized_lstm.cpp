// SPDX-License-Identifier: BSD-3-Clause
// QUANTIZED_LSTM: signed 8-bit input and output, symmetric weights, the cell's state and gates in 16 bits.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/host_runtime/fixed_point.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/lstm_cell.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

std::string name_of_gate(Gate gate, const char* what) {
  return std::string(kGateNames[gate]) + what;
}

float scale_of(const OpContext& context, const std::string& name) {
  return context.operand(name.c_str()).scale;
}

float single(const OpContext& context, const std::string& name) {
  return context.has(name.c_str()) ? static_cast<float>(context.number(name.c_str())) : 0;
}

bool has_layer_norm(const OpContext& context) {
  return context.has("output_layer_norm_weights");
}

// Returns log2 of the cell state's scale.
int cell_exponent(const OpContext& context) {
  constexpr int kLeast = -15, kGreatest = -9;
  const float scale = scale_of(context, "cell_state_in");
  const double exponent = std::log2(scale);
  const int whole = static_cast<int>(std::lround(std::clamp(exponent, -1000.0, 1000.0)));
  if (whole < kLeast || whole > kGreatest || std::abs(exponent - whole) > 1e-3) {
    context.refuse("cell_state_in", "scale {} found, a power of 2 from 2^{} to 2^{} needed", scale, kLeast, kGreatest);
  }
  return whole;
}

// Checks that the bias has the scale of the products that it is added to. Callers may leave the scale out; with layer
// normalization the bias may have any scale.
void check_bias(const OpContext& context, const std::string& name, double product, bool any_scale) {
  const Operand& bias = context.operand(name.c_str());
  if (bias.zero_point != 0) context.refuse(name.c_str(), "zero point {} found, 0 needed", bias.zero_point);
  if (any_scale || bias.scale == 0 || std::abs(bias.scale - product) <= 1e-6 * product) return;
  context.refuse(name.c_str(), "scale {} found, input scale x weights scale = {} needed", bias.scale, product);
}

void check_gate(const OpContext& context, Gate gate) {
  constexpr double kFixedPoint = 1.0 / (1 << (15 - kGateIntegerBits));
  const std::string name = name_of_gate(gate, "_intermediate_scale");
  const double scale = context.number(name.c_str());
  if (!(scale > 0)) context.refuse(name.c_str(), "{} found, more than 0 needed", scale);
  const double weights = scale_of(context, "input_to_" + name_of_gate(gate, "_weights"));
  const bool layer_norm = has_layer_norm(context);
  check_bias(context, name_of_gate(gate, "_gate_bias"), weights * scale_of(context, "input"), layer_norm);
  // Layer normalization turns sums of any scale into fixed point; without it, the sums have to be in fixed point.
  if (layer_norm || std::abs(scale - kFixedPoint) <= 1e-6 * kFixedPoint) return;
  context.refuse(name.c_str(), "{} found, 2^-12 = {} needed without layer normalization", scale, kFixedPoint);
}

void check_hidden_state(const OpContext& context) {
  const double scale = context.number("hidden_state_scale");
  if (!(scale > 0)) context.refuse("hidden_state_scale", "{} found, more than 0 needed", scale);
  const int64_t zero_point = context.integer("hidden_state_zero_point");
  if (zero_point >= -128 && zero_point <= 127) return;
  context.refuse("hidden_state_zero_point", "{} found, -128 to 127 needed", zero_point);
}

void check_quantization(const OpContext& context) {
  const Operand& output = context.operand("output_state_in");
  for (const char* name : {"output_state_out", "output"}) {
    require_quantization(context, name, output.scale, output.zero_point);
  }
  require_quantization(context, "cell_state_out", scale_of(context, "cell_state_in"), 0);
  cell_exponent(context);
}

// A matrix of codes [rows, columns] with contiguous rows.
template <typename Code>
struct Matrix {
  explicit Matrix(at::Tensor codes) : tensor(codes.contiguous()), columns(tensor.size(-1)) {}
  const Code* row(int64_t i) const { return tensor.template data_ptr<Code>() + i * columns; }
  Code* row(int64_t i) { return tensor.template data_ptr<Code>() + i * columns; }

  at::Tensor tensor;
  int64_t columns;
};

// sums[b][u] += round(multiplier * (codes[b] . weights[u] + bias[u])), saturated.
template <typename Sum>
void add_products(const OpContext& context, const Matrix<int8_t>& codes, int32_t zero_point, const std::string& weights,
                  const int32_t* bias, const Multiplier& multiplier, Matrix<Sum>& sums) {
  const Matrix<int8_t> rows(context.stored(weights.c_str()));
  for (int64_t b = 0; b < sums.tensor.size(0); ++b) {
    for (int64_t unit = 0; unit < sums.columns; ++unit) {
      const int64_t sum =
          product_sum(codes.row(b), zero_point, rows.row(unit), 0, codes.columns) + (bias ? bias[unit] : 0);
      const int64_t total = int64_t{multiplied(saturated_32(sum), multiplier)} + sums.row(b)[unit];
      sums.row(b)[unit] = static_cast<Sum>(
          std::clamp<int64_t>(total, std::numeric_limits<Sum>::min(), std::numeric_limits<Sum>::max()));
    }
  }
}

// Normalises a row to mean 0 and variance 1, multiplies by `weights`, adds `bias`, and rounds to fixed point with 3
// integer bits.
void normalize(int16_t* row, int64_t count, const int16_t* weights, const int32_t* bias, Multiplier scale) {
  constexpr int64_t kUnit = 1 << 10;  // the number 1 of the mean and of normalized numbers
  int64_t sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += row[i];
    squares += int64_t{row[i]} * row[i];
  }
  const int64_t mean = sum * kUnit / count;
  const int64_t variance = (squares * (kUnit * kUnit / count) - mean * mean) / (kUnit * kUnit);
  const Multiplier inverse = inverse_square_root(saturated_32(std::max<int64_t>(variance, 1)));
  scale.exponent += 15 - kGateIntegerBits;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t normalized = multiplied(saturated_32(kUnit * row[i] - mean), inverse);
    const int64_t weighed = int64_t{normalized} * weights[i] + bias[i];
    const int64_t rounded = (weighed > 0 ? weighed + kUnit / 2 : weighed - kUnit / 2) / kUnit;
    row[i] = saturated_16(multiplied(saturated_32(rounded), scale));
  }
}

class Cell {
 public:
  explicit Cell(const OpContext& context)
      : context_(context),
        input_(context.stored("input")),
        output_(context.stored("output_state_in")),
        exponent_(cell_exponent(context)),
        units_(context.dims("cell_state_in")[1]),
        layer_norm_(has_layer_norm(context)) {}

  // Returns the cell's state after this step.
  Matrix<int16_t> next_state() const {
    const Matrix<int16_t> before(context_.stored("cell_state_in"));
    const Matrix<int16_t> forget = sigmoid(sums(kForgetGate, before));
    const Matrix<int16_t> candidate = sums(kCellGate, before);
    const bool coupled = !context_.has("input_to_input_weights");
    const Matrix<int16_t> input = coupled ? forget : sigmoid(sums(kInputGate, before));
    const float clip = single(context_, "cell_clip");
    const float greatest = std::numeric_limits<int16_t>::max();
    const int64_t bound =
        clip > 0 ? static_cast<int64_t>(std::min(clip / scale_of(context_, "cell_state_in"), greatest)) : 0;
    return map(before, [&](int64_t i) {
      const int16_t kept = forget.row(0)[i], added = input.row(0)[i];
      const int32_t share = coupled ? std::numeric_limits<int16_t>::max() - added : added;
      const int32_t update = fixed_tanh(candidate.row(0)[i], kGateIntegerBits);
      const int64_t state = int64_t{rounding_shift_right(kept * before.row(0)[i], 15)} +
                            rounding_shift_right(share * update, 30 + exponent_);
      return clip > 0 ? saturated_16(std::clamp(state, -bound, bound)) : saturated_16(state);
    });
  }

  // Returns the codes of the output before the projection.
  Matrix<int8_t> hidden_state(const Matrix<int16_t>& state) const {
    const Matrix<int16_t> output = sigmoid(sums(kOutputGate, state));
    const auto scale =
        static_cast<float>(std::ldexp(std::ldexp(1.0, -15) / single(context_, "hidden_state_scale"), -15));
    const Multiplier multiplier = multiplier_of(scale);
    const int64_t zero_point = context_.integer("hidden_state_zero_point");
    Matrix<int8_t> codes(at::empty(state.tensor.sizes(), at::TensorOptions(at::kChar)));
    for (int64_t i = 0; i < state.tensor.numel(); ++i) {
      const int32_t product = output.row(0)[i] * fixed_tanh(state.row(0)[i], exponent_ + 15);
      codes.row(0)[i] =
          static_cast<int8_t>(std::clamp<int64_t>(multiplied(product, multiplier) + zero_point, -128, 127));
    }
    return codes;
  }

  // Without a projection the hidden state's codes are the output's.
  at::Tensor output(const Matrix<int8_t>& hidden) const {
    if (!context_.has("projection_weights")) return hidden.tensor;
    const Operand& operand = context_.operand("output");
    const float scale =
        scale_of(context_, "projection_weights") * single(context_, "hidden_state_scale") / operand.scale;
    const at::Tensor bias =
        context_.has("projection_bias") ? context_.stored("projection_bias").contiguous() : at::Tensor();
    Matrix<int32_t> sums(at::zeros(context_.dims("output"), at::TensorOptions(at::kInt)));
    add_products(context_, hidden, static_cast<int32_t>(context_.integer("hidden_state_zero_point")),
                 "projection_weights", bias.defined() ? bias.data_ptr<int32_t>() : nullptr, multiplier_of(scale), sums);
    const float clip = single(context_, "projection_clip");
    const int64_t bound = clip > 0 ? static_cast<int64_t>(std::min(clip / operand.scale, 255.0f)) : 255;
    return sums.tensor.clamp(-bound, bound).add_(operand.zero_point).clamp_(-128, 127).to(at::kChar);
  }

 private:
  template <typename Function>
  static Matrix<int16_t> map(const Matrix<int16_t>& like, const Function& function) {
    Matrix<int16_t> result(at::empty(like.tensor.sizes(), like.tensor.options()));
    for (int64_t i = 0; i < like.tensor.numel(); ++i) result.row(0)[i] = function(i);
    return result;
  }

  static Matrix<int16_t> sigmoid(const Matrix<int16_t>& sums) {
    return map(sums, [&](int64_t i) { return fixed_logistic(sums.row(0)[i], kGateIntegerBits); });
  }

  // Returns the sums before a gate's activation, in fixed point with 3 integer bits; the gate's peephole reads `state`.
  Matrix<int16_t> sums(Gate gate, const Matrix<int16_t>& state) const {
    const float intermediate = single(context_, name_of_gate(gate, "_intermediate_scale"));
    const std::string from_input = "input_to_" + name_of_gate(gate, "_weights");
    const std::string from_output = "recurrent_to_" + name_of_gate(gate, "_weights");
    const Operand &input = context_.operand("input"), &output = context_.operand("output_state_in");
    const at::Tensor bias = context_.stored(name_of_gate(gate, "_gate_bias").c_str()).contiguous();
    Matrix<int16_t> result(at::zeros(state.tensor.sizes(), state.tensor.options()));
    add_products(context_, input_, input.zero_point, from_input, layer_norm_ ? nullptr : bias.data_ptr<int32_t>(),
                 multiplier_of(scale_of(context_, from_input) * input.scale / intermediate), result);
    add_products(context_, output_, output.zero_point, from_output, nullptr,
                 multiplier_of(scale_of(context_, from_output) * output.scale / intermediate), result);
    if (gate != kCellGate) add_peephole(gate, state, intermediate, result);
    if (layer_norm_) apply_layer_norm(gate, bias, result);
    return result;
  }

  void add_peephole(Gate gate, const Matrix<int16_t>& state, float intermediate, Matrix<int16_t>& sums) const {
    const std::string name = "cell_to_" + name_of_gate(gate, "_weights");
    if (!context_.has(name.c_str())) return;
    const Matrix<int16_t> weights(context_.stored(name.c_str()));
    const auto scale = static_cast<float>(std::ldexp(double{scale_of(context_, name)}, exponent_) / intermediate);
    const Multiplier multiplier = multiplier_of(scale);
    for (int64_t i = 0; i < state.tensor.numel(); ++i) {
      const int32_t product = multiplied(weights.row(0)[i % units_] * state.row(0)[i], multiplier);
      sums.row(0)[i] = saturated_16(int64_t{product} + sums.row(0)[i]);
    }
  }

  void apply_layer_norm(Gate gate, const at::Tensor& bias, Matrix<int16_t>& sums) const {
    const std::string name = name_of_gate(gate, "_layer_norm_weights");
    const Matrix<int16_t> weights(context_.stored(name.c_str()));
    const Multiplier scale = multiplier_of(scale_of(context_, name));
    for (int64_t b = 0; b < sums.tensor.size(0); ++b) {
      normalize(sums.row(b), units_, weights.row(0), bias.data_ptr<int32_t>(), scale);
    }
  }

  const OpContext& context_;
  Matrix<int8_t> input_, output_;
  int exponent_;
  int64_t units_;
  bool layer_norm_;
};

}  // namespace

void quantized_lstm_rule(OpContext& context) {
  check_quantization(context);
  check_hidden_state(context);
  for (const Gate gate : {kForgetGate, kCellGate, kOutputGate}) check_gate(context, gate);
  const Dims& input = context.dims("input");
  const LstmExtents extents = check_lstm_cell(context, "", input[0], input[1]);
  context.set_output({extents.batch, extents.output}, 0);
  context.set_output({extents.batch, extents.units}, 1);
  context.set_output({extents.batch, extents.output}, 2);
  if (!extents.coupled) check_gate(context, kInputGate);
}

void quantized_lstm(OpContext& context) {
  const Cell cell(context);
  const Matrix<int16_t> state = cell.next_state();
  const at::Tensor output = cell.output(cell.hidden_state(state));
  context.put(output, 0);
  context.put(state.tensor, 1);
  context.put(output, 2);
}

}  // namespace nnapi_convert::host
