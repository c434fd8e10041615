// SPDX-License-Identifier: BSD-3-Clause
// QUANTIZED_16BIT_LSTM: a cell on 8-bit codes with fixed scales, its state and gates in 16 bits.
#include <algorithm>
#include <cmath>

#include "lib/host_runtime/fixed_point.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/lstm_cell.h"
#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

constexpr float kCodeScale = 1.0f / 128;
constexpr int32_t kCodeZeroPoint = 128;
constexpr int kStateIntegerBits = 4;
constexpr float kStateScale = 1.0f / 2048;

void require_scale(const OpContext& context, const std::string& name, float scale, int32_t zero_point, double slack) {
  const Operand& operand = context.operand(name.c_str());
  if (std::abs(operand.scale - scale) <= slack * scale && operand.zero_point == zero_point) return;
  require_quantization(context, name.c_str(), scale, zero_point);
}

// Computes the sums of one gate before its activation, in fixed point with 3 integer bits.
//
// NNAPI concatenates the input and the last output in this order, but puts the recurrent weights before the input
// weights, and multiplies the two rows as they are. Models cut their weights from a matrix so that the columns fit.
class GateSums {
 public:
  GateSums(const OpContext& context, Gate gate)
      : codes_(at::cat({context.stored("input"), context.stored("output_state_in")}, 1)),
        weights_(at::cat({weights(context, "recurrent_to_", gate), weights(context, "input_to_", gate)}, 1)),
        bias_(context.stored((kGateNames[gate] + std::string("_gate_bias")).c_str()).contiguous()),
        zero_point_(context.operand("input_to_input_weights").zero_point),
        multiplier_(multiplier_of(double{context.operand("input_gate_bias").scale} * (1 << (15 - kGateIntegerBits)))) {}

  int16_t at(int64_t batch, int64_t unit) const {
    const int64_t count = codes_.size(1);
    const int64_t products = product_sum(codes_.data_ptr<uint8_t>() + batch * count, kCodeZeroPoint,
                                         weights_.data_ptr<uint8_t>() + unit * count, zero_point_, count);
    return saturated_16(multiplied(saturated_32(products + bias_.data_ptr<int32_t>()[unit]), multiplier_));
  }

 private:
  static at::Tensor weights(const OpContext& context, const char* from, Gate gate) {
    return context.stored((from + std::string(kGateNames[gate]) + "_weights").c_str());
  }

  at::Tensor codes_, weights_, bias_;
  int32_t zero_point_;
  Multiplier multiplier_;
};

void check_gate(const OpContext& context, Gate gate, int64_t features, int64_t units) {
  const Operand& first = context.operand("input_to_input_weights");
  const std::string name = kGateNames[gate];
  for (const std::string& weights : {"input_to_" + name + "_weights", "recurrent_to_" + name + "_weights"}) {
    require_scale(context, weights, first.scale, first.zero_point, 0);
  }
  require_scale(context, name + "_gate_bias", first.scale * kCodeScale, 0, 1e-6);
  require_dims(context, "input_to_" + name + "_weights", {units, features});
  require_dims(context, "recurrent_to_" + name + "_weights", {units, units});
  require_dims(context, name + "_gate_bias", {units});
}

}  // namespace

void quantized_16bit_lstm_rule(OpContext& context) {
  for (const char* name : {"input", "output_state_in", "output"}) {
    require_quantization(context, name, kCodeScale, kCodeZeroPoint);
  }
  for (const char* name : {"cell_state_in", "cell_state_out"}) require_quantization(context, name, kStateScale, 0);
  const Dims& input = context.dims("input");
  const Dims output = {input[0], context.dims("output_state_in")[1]};
  require_dims(context, "output_state_in", output);
  require_dims(context, "cell_state_in", output);
  context.set_output(output, 0);
  context.set_output(output, 1);
  for (const Gate gate : {kInputGate, kForgetGate, kCellGate, kOutputGate}) {
    check_gate(context, gate, input[1], output[1]);
  }
}

void quantized_16bit_lstm(OpContext& context) {
  const GateSums input_sums(context, kInputGate), forget_sums(context, kForgetGate), cell_sums(context, kCellGate),
      output_sums(context, kOutputGate);
  const Dims& dims = context.dims("output");
  const at::Tensor before = context.stored("cell_state_in").contiguous();
  at::Tensor after = at::empty(dims, at::TensorOptions(at::kShort));
  at::Tensor output = at::empty(dims, at::TensorOptions(at::kByte));
  for (int64_t i = 0; i < before.numel(); ++i) {
    const int64_t batch = i / dims[1], unit = i % dims[1];
    const int16_t update = fixed_product(fixed_logistic(input_sums.at(batch, unit), kGateIntegerBits),
                                         fixed_tanh(cell_sums.at(batch, unit), kGateIntegerBits));
    const int16_t kept =
        fixed_product(fixed_logistic(forget_sums.at(batch, unit), kGateIntegerBits), before.data_ptr<int16_t>()[i]);
    const int16_t state = saturated_16(rounding_shift_right(update, kStateIntegerBits) + kept);
    after.data_ptr<int16_t>()[i] = state;
    const int16_t seen = saturated_16(int64_t{state} * (1 << (kStateIntegerBits - kGateIntegerBits)));
    const int16_t result = fixed_product(fixed_logistic(output_sums.at(batch, unit), kGateIntegerBits),
                                         fixed_tanh(seen, kGateIntegerBits));
    const int32_t code = std::clamp(rounding_shift_right(result, 8), -kCodeZeroPoint, 255 - kCodeZeroPoint);
    output.data_ptr<uint8_t>()[i] = static_cast<uint8_t>(code + kCodeZeroPoint);
  }
  context.put(after, 0);
  context.put(output, 1);
}

}  // namespace nnapi_convert::host
