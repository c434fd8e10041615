#include "lib/nnapi/passes/fold_affine.h"

#include <optional>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/convolution_inputs.h"

namespace nnapi_convert::nnapi {
namespace {

// Returns the filter's axis of output channels, or -1 for operations without weights.
int output_channel_axis(OperationCode code) {
  switch (code) {
    case OperationCode::CONV_2D:
    case OperationCode::GROUPED_CONV_2D:
    case OperationCode::TRANSPOSE_CONV_2D:
    case OperationCode::FULLY_CONNECTED:
      return 0;
    case OperationCode::DEPTHWISE_CONV_2D:
      return 3;
    default:
      return -1;
  }
}

// Returns the value for each of `channels` of a float constant that varies at most along the channel axis of an operand
// with `rank` axes; nothing for other operands.
std::optional<std::vector<float>> per_channel_values(const Operand& operand, size_t rank, size_t channels) {
  const Constant* constant = operand.constant();
  if (constant == nullptr || constant->type() != DataType::kFloat32) return std::nullopt;
  const size_t own_rank = constant->shape().size();
  if (own_rank > rank) return std::nullopt;
  for (size_t i = 0; i < own_rank; ++i) {
    const bool is_channel_axis = i + rank - own_rank == 1;
    if (constant->shape()[i] != 1 && !is_channel_axis) return std::nullopt;
  }
  std::vector<float> values = constant->floats();
  if (values.size() == 1) values.assign(channels, values[0]);
  if (values.size() != channels) return std::nullopt;
  return values;
}

bool is_plain(const Model& model, const Operation& operation) {
  const Dims* activation = model.at(operation.inputs.back()).ints();
  return activation != nullptr && (*activation)[0] == Dim(static_cast<int64_t>(FuseCode::NONE));
}

// Returns true if the operation has constant float weights. Its activation is still NONE here: fusing comes later.
bool can_take(const Model& model, const Operation& producer) {
  if (output_channel_axis(producer.code) < 0) return false;
  const Operand& filter = model.at(producer.inputs[kFilter]);
  const Operand& bias = model.at(producer.inputs[kBias]);
  return filter.constant() != nullptr && bias.constant() != nullptr && filter.type == OperandCode::TENSOR_FLOAT32;
}

void fold_into(Model& model, Operation& producer, OperationCode code, std::vector<float> values) {
  if (code == OperationCode::SUB) {  // constant - x: the rules write x - constant as an ADD
    fold_into(model, producer, OperationCode::MUL, std::vector<float>(values.size(), -1.0f));
    code = OperationCode::ADD;
  }
  auto shared = std::make_shared<const std::vector<float>>(std::move(values));
  Builder builder(model);
  const Constant bias = *model.at(producer.inputs[kBias]).constant();
  if (code == OperationCode::ADD) {
    producer.inputs[kBias] = builder.tensor(bias.then(AddVector{shared}));
    return;
  }
  const Constant filter = *model.at(producer.inputs[kFilter]).constant();
  producer.inputs[kFilter] = builder.tensor(filter.then(ScaleAxis{output_channel_axis(producer.code), shared}));
  producer.inputs[kBias] = builder.tensor(bias.then(ScaleAxis{0, shared}));
}

bool is_affine(OperationCode code) {
  return code == OperationCode::MUL || code == OperationCode::ADD || code == OperationCode::SUB;
}

// Folds `affine` into the operation that makes its variable input; returns true if it did.
bool fold_one(Model& model, Uses& uses, const Operation& affine) {
  if (!is_plain(model, affine)) return false;
  const bool constant_first = model.at(affine.inputs[0]).is_constant();
  if (affine.code == OperationCode::SUB && !constant_first) return false;
  const OperandId variable = affine.inputs[constant_first ? 1 : 0];
  const int producer_index = uses.producer[static_cast<size_t>(variable)];
  if (producer_index < 0 || uses.readers[static_cast<size_t>(variable)] != 1) return false;
  Operation& producer = model.operations[static_cast<size_t>(producer_index)];
  if (!can_take(model, producer)) return false;
  const size_t rank = model.at(variable).dims.size();
  const size_t channels = model.at(producer.inputs[kBias]).constant()->element_count();
  auto values = per_channel_values(model.at(affine.inputs[constant_first ? 0 : 1]), rank, channels);
  if (!values || model.at(affine.outputs[0]).dims != model.at(variable).dims) return false;
  fold_into(model, producer, affine.code, std::move(*values));
  producer.outputs[0] = affine.outputs[0];
  uses.producer[static_cast<size_t>(affine.outputs[0])] = producer_index;
  return true;
}

}  // namespace

void fold_affine(Model& model) {
  Uses uses(model);
  std::vector<Operation> kept;
  std::vector<bool> folded(model.operations.size(), false);
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation affine = model.operations[i];
    if (!is_affine(affine.code)) continue;
    folded[i] = fold_one(model, uses, affine);
  }
  for (size_t i = 0; i < model.operations.size(); ++i) {
    if (!folded[i]) kept.push_back(std::move(model.operations[i]));
  }
  model.operations = std::move(kept);
}

}  // namespace nnapi_convert::nnapi
