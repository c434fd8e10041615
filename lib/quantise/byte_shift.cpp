// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/byte_shift.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operand;
using nnapi::OperandId;
using nnapi::Operation;

constexpr int kLargest = 255;

struct IntegerConstant {
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<uint8_t> codes;
  double error = 0;  // the largest error
};

IntegerConstant with_scale(const std::vector<float>& values, double lowest, float scale) {
  IntegerConstant result{scale, static_cast<int32_t>(std::lround(-lowest / static_cast<double>(scale))), {}, 0};
  for (const float value : values) {
    const double step = static_cast<double>(scale);
    const auto code = static_cast<int32_t>(std::lround(static_cast<double>(value) / step)) + result.zero_point;
    result.codes.push_back(static_cast<uint8_t>(std::clamp(code, 0, kLargest)));
    const double stored = step * (result.codes.back() - result.zero_point);
    result.error = std::max(result.error, std::abs(stored - static_cast<double>(value)));
  }
  return result;
}

// Returns the nearest of many scales: for few values, one scale may fit all of them.
IntegerConstant integers_of(const std::vector<float>& values) {
  const double lowest = std::min(0.0F, *std::min_element(values.begin(), values.end()));
  const double highest = std::max(0.0F, *std::max_element(values.begin(), values.end()));
  std::optional<IntegerConstant> best;
  for (int steps = kLargest; steps > kLargest / 2; --steps) {
    const auto scale = static_cast<float>((highest - lowest) / steps);
    if (scale <= 0) return {1, 0, std::vector<uint8_t>(values.size(), 0), 0};
    IntegerConstant found = with_scale(values, lowest, scale);
    if (!best || found.error < best->error) best = std::move(found);
  }
  return *best;
}

class ByteShift {
 public:
  explicit ByteShift(Model& model) : model_(model), uses_(model) {}

  void run() {
    for (Operation& operation : model_.operations) {
      if (operation.code == OperationCode::ADD) shift(operation);
    }
    nnapi::drop_unread(model_);
  }

 private:
  // Returns the integers that a DEQUANTIZE makes the operand of; -1 for other operands.
  OperandId source_of(OperandId id) const {
    const int producer = uses_.producer[static_cast<size_t>(id)];
    if (producer < 0) return -1;
    const Operation& operation = model_.operations[static_cast<size_t>(producer)];
    const bool is_byte = model_.at(operation.inputs[0]).type == OperandCode::TENSOR_QUANT8_ASYMM;
    return operation.code == OperationCode::DEQUANTIZE && is_byte ? operation.inputs[0] : -1;
  }

  // Returns the QUANTIZE that alone reads the operand; null if anything else does.
  const Operation* quantize_of(OperandId id) const {
    if (uses_.readers[static_cast<size_t>(id)] != 1) return nullptr;
    for (const Operation& operation : model_.operations) {
      if (operation.code != OperationCode::QUANTIZE || operation.inputs[0] != id) continue;
      return model_.at(operation.outputs[0]).type == OperandCode::TENSOR_QUANT8_ASYMM ? &operation : nullptr;
    }
    return nullptr;
  }

  void shift(Operation& add) {
    const size_t variable = model_.at(add.inputs[0]).is_constant() ? 1 : 0;
    const nnapi::Constant* constant = model_.at(add.inputs[1 - variable]).constant();
    const OperandId source = source_of(add.inputs[variable]);
    if (source < 0 || constant == nullptr || constant->type() != nnapi::DataType::kFloat32) return;
    const Operation* quantize = quantize_of(add.outputs[0]);
    if (quantize == nullptr) return;
    const IntegerConstant integers = integers_of(constant->floats());
    if (integers.error > static_cast<double>(model_.at(quantize->outputs[0]).scale) / 4) return;
    const OperandId sum = quantize->outputs[0];
    auto codes = std::make_shared<const std::vector<uint8_t>>(integers.codes);
    const nnapi::Constant stored(nnapi::DataType::kUInt8, constant->shape(), codes->data(), codes);
    add.inputs[1 - variable] = nnapi::Builder(model_).tensor(stored, integers.scale, integers.zero_point);
    add.inputs[variable] = source;
    add.outputs[0] = sum;
    drop_output(*quantize);
  }

  // Removes the operation once nothing reads its result.
  void drop_output(const Operation& quantize) {
    Operand unread = model_.at(quantize.outputs[0]);
    const auto number = static_cast<size_t>(&quantize - model_.operations.data());
    model_.operations[number].outputs[0] = model_.add(std::move(unread));
  }

  Model& model_;
  const nnapi::Uses uses_;
};

}  // namespace

void shift_bytes(Model& model) {
  ByteShift(model).run();
}

}  // namespace nnapi_convert::quantise
