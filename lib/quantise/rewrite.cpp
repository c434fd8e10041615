// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/rewrite.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "lib/nnapi/builder.h"
#include "lib/quantise/byte_shift.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Constant;
using nnapi::DataType;
using nnapi::Model;
using nnapi::Operand;
using nnapi::OperandId;
using nnapi::Operation;

constexpr OperandId kNone = -1;

template <typename Stored>
Constant constant_of(DataType type, std::vector<int64_t> shape, std::vector<Stored> values) {
  const auto owner = std::make_shared<const std::vector<Stored>>(std::move(values));
  return Constant(type, std::move(shape), owner->data(), owner);
}

double clamped(double value, double lowest, double highest) {
  return std::isnan(value) ? 0 : std::min(highest, std::max(lowest, value));
}

uint8_t to_uint8(float value, const nnapi::Scale& scale) {
  const double steps = std::round(static_cast<double>(value) / static_cast<double>(scale.scale)) + scale.zero_point;
  return static_cast<uint8_t>(clamped(steps, 0, 255));
}

Constant quantised(const Constant& constant, const nnapi::Scale& scale) {
  std::vector<uint8_t> values;
  for (const float value : constant.floats()) values.push_back(to_uint8(value, scale));
  return constant_of(DataType::kUInt8, constant.shape(), std::move(values));
}

class Rewriting {
 public:
  Rewriting(const Model& model, const RewriteRequest& request)
      : from_(model),
        request_(request),
        result_{model, std::vector<OperandId>(model.operands.size(), kNone)},
        builder_(result_.model) {
    result_.model.operations.clear();
    has_float_.assign(model.operands.size(), false);
  }

  Rewritten run() {
    for (nnapi::Boundary& input : result_.model.inputs) {
      if (request_.integer_inputs && is_read_by_integers(input.operand)) {
        input.operand = make_integer(input.operand);
      } else {
        mark_float(input.operand);
      }
    }
    for (size_t i = 0; i < from_.operations.size(); ++i) {
      builder_.set_source(from_.operations[i].source);
      if (request_.assignment.is_integer[i]) {
        add_integer(i);
      } else {
        add_float(from_.operations[i]);
      }
    }
    for (nnapi::Boundary& output : result_.model.outputs) output.operand = output_of(output.operand);
    shift_bytes(result_.model);
    return std::move(result_);
  }

 private:
  const nnapi::Scale& scale_of(OperandId id) const { return *request_.assignment.scales[static_cast<size_t>(id)]; }
  bool has_float(OperandId id) const { return has_float_[static_cast<size_t>(id)]; }
  void mark_float(OperandId id) { has_float_[static_cast<size_t>(id)] = true; }
  OperandId& integer(OperandId id) { return result_.integer_operands[static_cast<size_t>(id)]; }

  bool is_read_by_integers(OperandId id) const {
    for (size_t i = 0; i < from_.operations.size(); ++i) {
      const std::vector<OperandId>& inputs = from_.operations[i].inputs;
      const bool reads = std::find(inputs.begin(), inputs.end(), id) != inputs.end();
      if (reads && request_.assignment.is_integer[i] && is_float_variable(from_.at(id))) return true;
    }
    return false;
  }

  // Returns an operand for the integers of a float one.
  OperandId make_integer(OperandId id) {
    Operand operand = from_.at(id);
    operand.type = OperandCode::TENSOR_QUANT8_ASYMM;
    operand.scale = scale_of(id).scale;
    operand.zero_point = scale_of(id).zero_point;
    return integer(id) = result_.model.add(std::move(operand));
  }

  OperandId as_integer(OperandId id) {
    if (integer(id) != kNone) return integer(id);
    const OperandId result = make_integer(id);
    result_.model.operations.push_back({OperationCode::QUANTIZE, {id}, {result}, source()});
    return result;
  }

  OperandId as_float(OperandId id) {
    if (!is_float_variable(from_.at(id)) || has_float(id)) return id;
    result_.model.operations.push_back({OperationCode::DEQUANTIZE, {integer(id)}, {id}, source()});
    mark_float(id);
    return id;
  }

  OperandId output_of(OperandId id) {
    if (!is_float_variable(from_.at(id))) return id;
    const bool is_integer = request_.integer_outputs && integer(id) != kNone && !has_float(id);
    return is_integer ? integer(id) : as_float(id);
  }

  // Returns the source line of the newest operation.
  std::string source() const { return source_; }

  void add_float(const Operation& operation) {
    source_ = operation.source;
    Operation copy = operation;
    for (OperandId& input : copy.inputs) input = as_float(input);
    for (const OperandId output : copy.outputs) {
      if (is_float_variable(from_.at(output))) mark_float(output);
    }
    result_.model.operations.push_back(std::move(copy));
  }

  void add_integer(size_t number) {
    const Operation& operation = from_.operations[number];
    source_ = operation.source;
    Operation copy = operation;
    const bool is_weighted = nnapi::form_of(operation.code) == nnapi::IntegerForm::kWeighted;
    for (size_t i = 0; i < copy.inputs.size(); ++i) {
      if (is_weighted && (i == 1 || i == 2)) continue;
      copy.inputs[i] = integer_input(operation, i);
    }
    if (is_weighted) set_weights(number, copy);
    for (OperandId& output : copy.outputs) {
      if (is_float_variable(from_.at(output))) output = make_integer(output);
    }
    result_.model.operations.push_back(std::move(copy));
  }

  OperandId integer_input(const Operation& operation, size_t input) {
    const OperandId id = operation.inputs[input];
    const Operand& operand = from_.at(id);
    if (is_float_variable(operand)) return as_integer(id);
    if (operand.type == OperandCode::TENSOR_FLOAT32) {
      return builder_.tensor(quantised(*operand.constant(), scale_of(id)), scale_of(id).scale, scale_of(id).zero_point);
    }
    if (operation.code == OperationCode::PAD_V2 && operand.type == OperandCode::FLOAT32) {
      return builder_.int32(to_uint8(std::get<float>(operand.value), scale_of(operation.outputs[0])));
    }
    return id;
  }

  void set_weights(size_t number, Operation& operation) {
    const nnapi::Scale& input = scale_of(from_.operations[number].inputs[0]);
    const Constant& filter = *from_.at(operation.inputs[1]).constant();
    if (request_.rules.per_channel && nnapi::channel_axis(operation.code)) {
      set_channel_weights(number, input, operation);
      return;
    }
    const nnapi::Scale scale = filter_scale(from_, from_.operations[number], input, request_.rules, request_.cache);
    operation.inputs[1] = builder_.tensor(quantised(filter, scale), scale.scale, scale.zero_point);
    const float bias_scale = input.scale * scale.scale;
    const std::vector<double> scales(biases(number).size(),
                                     static_cast<double>(input.scale) * static_cast<double>(scale.scale));
    operation.inputs[2] = builder_.tensor(integer_biases(number, scales), bias_scale, 0);
  }

  void set_channel_weights(size_t number, const nnapi::Scale& input, Operation& operation) {
    const Constant& filter = *from_.at(operation.inputs[1]).constant();
    nnapi::ChannelScales channels{*nnapi::channel_axis(operation.code),
                                  filter_scales(from_, from_.operations[number], input)};
    size_t inner = 1;
    for (size_t i = channels.axis + 1; i < filter.shape().size(); ++i) inner *= static_cast<size_t>(filter.shape()[i]);
    const std::vector<float> values = filter.floats();
    std::vector<int8_t> integers;
    for (size_t i = 0; i < values.size(); ++i) {
      const double scale = static_cast<double>(channels.scales[i / inner % channels.scales.size()]);
      const double steps = std::round(static_cast<double>(values[i]) / scale);
      integers.push_back(static_cast<int8_t>(clamped(steps, -127, 127)));
    }
    std::vector<double> products;
    for (const float scale : channels.scales) {
      products.push_back(static_cast<double>(input.scale) * static_cast<double>(scale));
    }
    operation.inputs[1] = builder_.channel_tensor(constant_of(DataType::kInt8, filter.shape(), std::move(integers)),
                                                  std::make_shared<const nnapi::ChannelScales>(std::move(channels)));
    operation.inputs[2] = builder_.tensor(integer_biases(number, products), 0, 0);
  }

  std::vector<float> biases(size_t number) const {
    std::vector<float> values = from_.at(from_.operations[number].inputs[2]).constant()->floats();
    if (request_.bias_changes == nullptr) return values;
    const std::vector<float>& changes = request_.bias_changes->at(number);
    for (size_t i = 0; i < changes.size(); ++i) values[i] += changes[i];
    return values;
  }

  Constant integer_biases(size_t number, const std::vector<double>& scales) const {
    const std::vector<float> values = biases(number);
    std::vector<int32_t> integers;
    for (size_t i = 0; i < values.size(); ++i) {
      const double steps = std::round(static_cast<double>(values[i]) / scales[i]);
      integers.push_back(static_cast<int32_t>(clamped(steps, -2147483647.0, 2147483647.0)));
    }
    const auto count = static_cast<int64_t>(integers.size());
    return constant_of(DataType::kInt32, {count}, std::move(integers));
  }

  const Model& from_;
  const RewriteRequest& request_;
  Rewritten result_;
  nnapi::Builder builder_;
  std::vector<bool> has_float_;  // by operand: the float operand has its value
  std::string source_;
};

}  // namespace

Rewritten rewrite(const Model& model, const RewriteRequest& request) {
  return Rewriting(model, request).run();
}

}  // namespace nnapi_convert::quantise
