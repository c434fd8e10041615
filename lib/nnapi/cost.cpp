// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/cost.h"

namespace nnapi_convert::nnapi {
namespace {

Count size_of(const Dims& dims, size_t axis) {
  return axis < dims.size() ? Count(dims[axis].fixed_value()) : Count(std::nullopt);
}

class Cost {
 public:
  Cost(const Model& model, const Operation& operation) : model_(model), operation_(operation) {}

  Count multiply_adds() const {
    switch (operation_.code) {
      case OperationCode::CONV_2D:
      case OperationCode::GROUPED_CONV_2D:
      case OperationCode::FULLY_CONNECTED:
        return weights_for_each(output(), 0);
      case OperationCode::DEPTHWISE_CONV_2D:
        return weights_for_each(output(), 3);
      case OperationCode::TRANSPOSE_CONV_2D:
        return weights_for_each(input(0), 3);
      case OperationCode::BATCH_MATMUL:
        return elements(output()) * summed_size();
      case OperationCode::LSTM:
      case OperationCode::RNN:
      case OperationCode::UNIDIRECTIONAL_SEQUENCE_LSTM:
      case OperationCode::UNIDIRECTIONAL_SEQUENCE_RNN:
      case OperationCode::BIDIRECTIONAL_SEQUENCE_LSTM:
      case OperationCode::BIDIRECTIONAL_SEQUENCE_RNN:
        return recurrent();
      default:
        return 0;
    }
  }

 private:
  const Operand& operand(size_t index) const { return model_.at(operation_.inputs[index]); }
  const Dims& input(size_t index) const { return operand(index).dims; }
  const Dims& output() const { return model_.at(operation_.outputs[0]).dims; }

  static Count elements(const Dims& dims) { return nnapi_convert::element_count(dims); }

  // Returns the elements of `taking` times the filter's weights without its axis `kept`.
  Count weights_for_each(const Dims& taking, size_t kept) const {
    return elements(taking) * elements(input(1)).divided_by(size_of(input(1), kept).value_or(0));
  }

  Count summed_size() const {
    const bool* adjoint = std::get_if<bool>(&operand(2).value);
    const Dims& dims = input(0);
    return size_of(dims, dims.size() - (adjoint != nullptr && *adjoint ? 2 : 1));
  }

  // Counts every weight matrix once for each step of each row of the batch.
  Count recurrent() const {
    Count weights = 0;
    for (size_t i = 1; i < operation_.inputs.size(); ++i) {
      if (operand(i).constant() != nullptr && input(i).size() == 2) weights += elements(input(i));
    }
    const int64_t width = size_of(input(0), input(0).size() - 1).value_or(0);
    return elements(input(0)).divided_by(width) * weights;
  }

  const Model& model_;
  const Operation& operation_;
};

// Returns the multiply-adds of an operation's subgraphs. Values decide which branch runs and how often a loop runs.
Count of_subgraphs(const Model& model, const Operation& operation) {
  const auto of_input = [&](size_t index) {
    const Subgraph* subgraph = model.at(operation.inputs[index]).subgraph();
    return subgraph == nullptr ? Count(std::nullopt) : multiply_adds(**subgraph);
  };
  if (operation.code == OperationCode::IF) return of_input(1) == of_input(2) ? of_input(1) : Count(std::nullopt);
  if (operation.code != OperationCode::WHILE) return 0;
  return of_input(0) == 0 && of_input(1) == 0 ? Count(0) : Count(std::nullopt);
}

}  // namespace

Count multiply_adds(const Model& model) {
  Count sum = 0;
  for (const Operation& operation : model.operations) {
    sum += multiply_adds(model, operation) + of_subgraphs(model, operation);
  }
  return sum;
}

Count multiply_adds(const Model& model, const Operation& operation) {
  return Cost(model, operation).multiply_adds();
}

Count element_count(const Operand& operand) {
  return nnapi_convert::element_count(operand.dims);
}

Count byte_count(const Operand& operand) {
  if (!is_tensor(operand.type)) return 0;
  const bool has_four = operand.type == OperandCode::TENSOR_FLOAT32 || operand.type == OperandCode::TENSOR_INT32;
  const bool has_two = operand.type == OperandCode::TENSOR_FLOAT16 ||
                       operand.type == OperandCode::TENSOR_QUANT16_SYMM ||
                       operand.type == OperandCode::TENSOR_QUANT16_ASYMM;
  return element_count(operand) * (has_four ? 4 : has_two ? 2 : 1);
}

Count byte_count(const Model& model, const std::vector<Boundary>& boundaries) {
  Count sum = 0;
  for (const Boundary& boundary : boundaries) sum += byte_count(model.at(boundary.operand));
  return sum;
}

}  // namespace nnapi_convert::nnapi
