// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/fold_affine.h"

#include <algorithm>
#include <optional>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/affine.h"
#include "lib/nnapi/passes/convolution_inputs.h"

namespace nnapi_convert::nnapi {
namespace {

// Returns the filter's axis of output channels, or -1 for operations without weights.
int output_channel_axis(OperationCode code) {
  return find_operation(code)->channel_axis;
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

// Folds `affine` into the operation that makes its variable input; returns true if it did.
bool fold_one(Model& model, Uses& uses, const Operation& affine) {
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

// A part of a linear layer's results that a number multiplies.
struct PartOfResults {
  size_t producer;             // the layer
  std::vector<float> factors;  // for each output of the layer
  Operation* last;             // makes the operand that is multiplied
  size_t output;               // the number of the output of `last`
};

bool is_last_axis(const Model& model, const Operation& split) {
  const Dims* axis = model.at(split.inputs[1]).ints();
  const auto rank = static_cast<int64_t>(model.at(split.inputs[0]).dims.size());
  return axis != nullptr && ((*axis)[0] == Dim(rank - 1) || (*axis)[0] == Dim(-1));
}

bool is_move(const Operation& operation) {
  return operation.code == OperationCode::RESHAPE || operation.code == OperationCode::TRANSPOSE;
}

// Follows moves from the multiplied operand back to a SPLIT of a FULLY_CONNECTED's outputs, such as the queries among
// queries, keys and values. Returns nothing if there is no such way.
std::optional<PartOfResults> part_of_results(Model& model, const Uses& uses, OperandId multiplied, float factor) {
  PartOfResults part{0, {}, nullptr, 0};
  bool is_split = false;
  size_t first = 0, count = 0;
  for (OperandId id = multiplied;;) {
    const auto at = static_cast<size_t>(id);
    if (uses.producer[at] < 0 || uses.readers[at] != 1) return std::nullopt;
    Operation& operation = model.operations[static_cast<size_t>(uses.producer[at])];
    const auto output = static_cast<size_t>(std::find(operation.outputs.begin(), operation.outputs.end(), id) -
                                            operation.outputs.begin());
    if (part.last == nullptr) part.last = &operation, part.output = output;
    if (operation.code == OperationCode::SPLIT && !is_split && is_last_axis(model, operation)) {
      const Dim& last = model.at(id).dims.back();
      if (!last.is_fixed()) return std::nullopt;
      is_split = true;
      count = static_cast<size_t>(last.value());
      first = output * count;
    } else if (operation.code == OperationCode::FULLY_CONNECTED && is_split && can_take(model, operation)) {
      part.producer = static_cast<size_t>(uses.producer[at]);
      part.factors.assign(model.at(operation.inputs[kBias]).constant()->element_count(), 1.0f);
      std::fill_n(part.factors.begin() + static_cast<std::ptrdiff_t>(first), count, factor);
      return part;
    } else if (is_split ? operation.code != OperationCode::RESHAPE ||
                              model.at(operation.inputs[0]).dims.back() != model.at(id).dims.back()
                        : !is_move(operation)) {
      return std::nullopt;
    }
    id = operation.inputs[0];
  }
}

// Folds a number that multiplies a part of a linear layer's results into the layer; returns true if it did.
bool fold_into_part(Model& model, Uses& uses, const Operation& affine) {
  if (affine.code != OperationCode::MUL) return false;
  const bool constant_first = model.at(affine.inputs[0]).is_constant();
  const Constant* number = model.at(affine.inputs[constant_first ? 0 : 1]).constant();
  const OperandId variable = affine.inputs[constant_first ? 1 : 0];
  const bool is_number = number != nullptr && number->type() == DataType::kFloat32 && number->element_count() == 1;
  if (!is_number) return false;
  if (model.at(affine.outputs[0]).dims != model.at(variable).dims) return false;
  const auto part = part_of_results(model, uses, variable, number->floats()[0]);
  if (!part) return false;
  fold_into(model, model.operations[part->producer], OperationCode::MUL, part->factors);
  part->last->outputs[part->output] = affine.outputs[0];
  uses.producer[static_cast<size_t>(affine.outputs[0])] = uses.producer[static_cast<size_t>(variable)];
  return true;
}

}  // namespace

void fold_affine(Model& model) {
  Uses uses(model);
  std::vector<Operation> kept;
  std::vector<bool> folded(model.operations.size(), false);
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation affine = model.operations[i];
    if (!is_affine(model, affine)) continue;
    folded[i] = fold_one(model, uses, affine) || fold_into_part(model, uses, affine);
  }
  for (size_t i = 0; i < model.operations.size(); ++i) {
    if (!folded[i]) kept.push_back(std::move(model.operations[i]));
  }
  model.operations = std::move(kept);
}

}  // namespace nnapi_convert::nnapi
