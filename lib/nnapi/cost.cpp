#include "lib/nnapi/cost.h"

namespace nnapi_convert::nnapi {
namespace {

// 0 for sizes that are not known.
int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.fixed_value().value_or(0);
  return count;
}

int64_t size_of(const Dims& dims, size_t axis) {
  return axis < dims.size() ? dims[axis].fixed_value().value_or(0) : 0;
}

class Cost {
 public:
  Cost(const Model& model, const Operation& operation) : model_(model), operation_(operation) {}

  int64_t multiply_adds() const {
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
        return element_count(output()) * summed_size();
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

  // Each element takes the filter's weights but for those along its axis `kept`.
  int64_t weights_for_each(const Dims& elements, size_t kept) const {
    const int64_t size = size_of(input(1), kept);
    return size == 0 ? 0 : element_count(elements) * (element_count(input(1)) / size);
  }

  int64_t summed_size() const {
    const bool* adjoint = std::get_if<bool>(&operand(2).value);
    const Dims& dims = input(0);
    return size_of(dims, dims.size() - (adjoint != nullptr && *adjoint ? 2 : 1));
  }

  // Every weight matrix once for each step of each row of the batch.
  int64_t recurrent() const {
    const int64_t width = size_of(input(0), input(0).size() - 1);
    if (width == 0) return 0;
    int64_t weights = 0;
    for (size_t i = 1; i < operation_.inputs.size(); ++i) {
      if (operand(i).constant() != nullptr && input(i).size() == 2) weights += element_count(input(i));
    }
    return element_count(input(0)) / width * weights;
  }

  const Model& model_;
  const Operation& operation_;
};

}  // namespace

int64_t multiply_adds(const Model& model) {
  int64_t sum = 0;
  for (const Operation& operation : model.operations) sum += multiply_adds(model, operation);
  return sum;
}

int64_t multiply_adds(const Model& model, const Operation& operation) {
  return Cost(model, operation).multiply_adds();
}

std::optional<int64_t> byte_count(const Operand& operand) {
  if (!is_tensor(operand.type)) return 0;
  const bool has_four = operand.type == OperandCode::TENSOR_FLOAT32 || operand.type == OperandCode::TENSOR_INT32;
  const bool has_two = operand.type == OperandCode::TENSOR_FLOAT16 ||
                       operand.type == OperandCode::TENSOR_QUANT16_SYMM ||
                       operand.type == OperandCode::TENSOR_QUANT16_ASYMM;
  int64_t bytes = has_four ? 4 : has_two ? 2 : 1;
  for (const Dim& dim : operand.dims) {
    if (!dim.is_fixed()) return std::nullopt;
    bytes *= dim.value();
  }
  return bytes;
}

}  // namespace nnapi_convert::nnapi
