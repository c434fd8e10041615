// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/split_untransposed.h"

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"

namespace nnapi_convert::nnapi {
namespace {

class Rewriter {
 public:
  explicit Rewriter(Model& model) : model_(model), builder_(model) {}

  void run() {
    const Uses uses(model_);
    std::vector<Operation> operations = std::move(model_.operations);
    for (Operation& operation : operations) {
      const bool is_done = split(operations, uses, operation) || join(operations, uses, operation);
      if (!is_done) model_.operations.push_back(operation);
    }
  }

 private:
  const Dims& dims(OperandId id) const { return model_.at(id).dims; }

  static const Operation* producer(const std::vector<Operation>& operations, const Uses& uses, OperandId id,
                                   OperationCode code) {
    const int index = uses.producer[static_cast<size_t>(id)];
    if (index < 0 || uses.readers[static_cast<size_t>(id)] != 1) return nullptr;
    const Operation& found = operations[static_cast<size_t>(index)];
    return found.code == code ? &found : nullptr;
  }

  // Returns the three sizes, without axes of size 1, before a TRANSPOSE that swaps the first two; empty for other
  // moves.
  Dims before_swap(const Operation* transpose) const {
    if (transpose == nullptr || transpose->inputs.size() != 2) return {};
    const Dims* order = model_.at(transpose->inputs[1]).ints();
    if (order == nullptr) return {};
    const Dims& from = dims(transpose->inputs[0]);
    Dims sizes;
    for (const Dim& size : from) {
      if (size != Dim(1)) sizes.push_back(size);
    }
    std::vector<int64_t> moved;
    for (const int64_t axis : fixed_values(*order)) {
      if (from[static_cast<size_t>(axis)] != Dim(1)) moved.push_back(axis);
    }
    const bool swaps = moved.size() == 3 && moved[1] < moved[0] && moved[0] < moved[2];
    return swaps ? sizes : Dims{};
  }

  bool is_along_first_axis(const Operation& operation, size_t argument) const {
    const Dims* axis = model_.at(operation.inputs[argument]).ints();
    return axis != nullptr && (*axis)[0] == Dim(0);
  }

  OperandId reshaped(OperandId id, const Dims& to) {
    Operand type = model_.at(id);
    type.dims = to;
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(to)}, type);
  }

  // Rewrites a SPLIT of [heads * rows, features] that was made from [rows, heads, features].
  bool split(const std::vector<Operation>& operations, const Uses& uses, const Operation& operation) {
    if (operation.code != OperationCode::SPLIT || !is_along_first_axis(operation, 1)) return false;
    const Operation* reshape = producer(operations, uses, operation.inputs[0], OperationCode::RESHAPE);
    if (reshape == nullptr) return false;
    const Operation* transpose = producer(operations, uses, reshape->inputs[0], OperationCode::TRANSPOSE);
    const Dims from = before_swap(transpose);
    if (from.empty()) return false;
    const Dims to = dims(operation.inputs[0]);
    const bool splits_heads = from[1] == Dim(static_cast<int64_t>(operation.outputs.size())) && to.size() == 2 &&
                              to[0] == from[0] * from[1] && to[1] == from[2];
    if (!splits_heads) return false;
    builder_.set_source(operation.source);
    const OperandId matrix = reshaped(transpose->inputs[0], {from[0], from[1] * from[2]});
    model_.operations.push_back(
        {OperationCode::SPLIT, {matrix, builder_.int32(1), operation.inputs[2]}, operation.outputs, operation.source});
    return true;
  }

  // Rewrites a TRANSPOSE to [rows, heads, features] of joined [heads * rows, features].
  bool join(const std::vector<Operation>& operations, const Uses& uses, const Operation& operation) {
    if (operation.code != OperationCode::TRANSPOSE) return false;
    const Dims from = before_swap(&operation);
    if (from.empty()) return false;
    const Operation* reshape = producer(operations, uses, operation.inputs[0], OperationCode::RESHAPE);
    if (reshape == nullptr) return false;
    const Operation* joined = producer(operations, uses, reshape->inputs[0], OperationCode::CONCATENATION);
    if (joined == nullptr || !is_along_first_axis(*joined, joined->inputs.size() - 1)) return false;
    std::vector<OperandId> inputs = joined->inputs;
    inputs.pop_back();
    if (from[0] != Dim(static_cast<int64_t>(inputs.size()))) return false;
    for (const OperandId part : inputs) {
      if (dims(part) != Dims{from[1], from[2]}) return false;
    }
    builder_.set_source(operation.source);
    inputs.push_back(builder_.int32(1));
    Operand type = model_.at(operation.outputs[0]);
    type.dims = {from[1], from[0] * from[2]};
    const OperandId matrix = builder_.add(OperationCode::CONCATENATION, inputs, type);
    const OperandId shape = builder_.int32_tensor(dims(operation.outputs[0]));
    model_.operations.push_back({OperationCode::RESHAPE, {matrix, shape}, operation.outputs, operation.source});
    return true;
  }

  Model& model_;
  Builder builder_;
};

}  // namespace

void split_untransposed(Model& model) {
  Rewriter(model).run();
  drop_unread(model);
}

}  // namespace nnapi_convert::nnapi
