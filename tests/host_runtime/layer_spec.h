// SPDX-License-Identifier: BSD-3-Clause
// Makes models of one operation, with arguments by their names in the operations table, and checks their refusals.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/format/operation_table.h"
#include "tests/host_runtime/model_checks.h"
#include "tests/host_runtime/model_spec.h"

namespace model_spec {

using Arguments = std::map<std::string, OperandSpec>;

struct Layer : ModelSpec {
  // Leaves missing arguments off the list if possible, else omits them. Arguments without a value are the model's
  // inputs and outputs, in the order of the list.
  Layer(OperationCode code, const Arguments& arguments, std::size_t signature = 0)
      : signature_(nnapi_convert::find_operation(code)->signatures[signature]) {
    OperationSpec operation;
    operation.code = code;
    for (const auto& argument : signature_.inputs) {
      if (argument.optional && arguments.count(argument.name) == 0) break;
      operation.inputs.push_back(add(operand_for(argument, arguments)));
      const OperandSpec& operand = operands.back();
      if (operand.bytes.empty() && !operand.omitted) inputs.push_back(operation.inputs.back());
    }
    for (const auto& argument : signature_.outputs) {
      if (arguments.count(argument.name) == 0) break;
      outputs.push_back(add(arguments.at(argument.name)));
    }
    operation.outputs = outputs;
    operations = {std::move(operation)};
  }

  OperandSpec& operator[](const std::string& name) {
    std::size_t position = 0;
    for (const auto* side : {&signature_.inputs, &signature_.outputs}) {
      for (std::size_t i = 0; i < side->size(); ++i) {
        if ((*side)[i].name == name) return operands.at(position + i);
      }
      position = operations[0].inputs.size();
    }
    throw std::runtime_error("no argument " + name);
  }

  void omit(const std::string& name) {
    OperandSpec& operand = (*this)[name];
    operand.bytes.clear();
    operand.omitted = true;
  }

 private:
  OperandSpec operand_for(const nnapi_convert::ArgumentInfo& argument, const Arguments& arguments) const {
    const auto found = arguments.find(argument.name);
    if (found != arguments.end()) return found->second;
    OperandSpec omitted;
    omitted.type = argument.type_in(signature_.combinations[0]);
    const bool scaled =
        omitted.type == OperandCode::TENSOR_QUANT8_SYMM || omitted.type == OperandCode::TENSOR_QUANT16_SYMM;
    omitted.scale = scaled ? 1 : 0;
    omitted.omitted = true;
    return omitted;
  }

  const nnapi_convert::SignatureInfo& signature_;
};

// Returns a constant of zeros.
template <typename T>
OperandSpec zeros(OperandCode type, const std::vector<uint32_t>& dims, float scale = 0, int32_t zero_point = 0) {
  std::size_t count = 1;
  for (const uint32_t extent : dims) count *= extent;
  return constant(type, dims, std::vector<T>(count), scale, zero_point);
}

const OperandCode kFloat = OperandCode::TENSOR_FLOAT32;
inline OperandSpec weights(const std::vector<uint32_t>& dims) {
  return zeros<float>(kFloat, dims);
}

const std::array<std::string, 4> kGates = {"input", "forget", "cell", "output"};

// Takes a valid operation; each call checks the refusal of one change to it.
class Refusals {
 public:
  explicit Refusals(const Layer& valid) : valid_(valid) { accepts(valid); }
  void operator()(const std::function<void(Layer&)>& change, const std::string& fragment) const {
    Layer layer = valid_;
    change(layer);
    refuses(layer, fragment);
  }

 private:
  Layer valid_;
};

}  // namespace model_spec
