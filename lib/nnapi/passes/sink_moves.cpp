// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/sink_moves.h"

#include <algorithm>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/passes/sink_regions.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

class MoveSinker {
 public:
  explicit MoveSinker(Model& model) : model_(model), builder_(model), uses_(model) {}

  // Runs one round; returns true if a move sank.
  bool run() {
    bool any = false;
    std::vector<Operation> operations = std::move(model_.operations);
    model_.operations.clear();
    read_by_moves_.assign(model_.operands.size(), 0);
    for (const Operation& operation : operations) {
      if (is_move(model_, operation)) ++read_by_moves_[static_cast<size_t>(operation.inputs[0])];
    }
    std::fill(uses_.producer.begin(), uses_.producer.end(), -1);
    for (Operation& operation : operations) {
      builder_.set_source(operation.source);
      source_ = operation.source;
      if (sink_below(operation)) {
        any = true;
      } else {
        append(std::move(operation));
      }
    }
    return any;
  }

 private:
  void append(Operation operation) {
    uses_.producer.resize(model_.operands.size(), -1);
    uses_.readers.resize(model_.operands.size(), 0);
    for (const OperandId id : operation.outputs) {
      uses_.producer[static_cast<size_t>(id)] = static_cast<int>(model_.operations.size());
    }
    model_.operations.push_back(std::move(operation));
  }

  bool is_variable(OperandId id) const { return !model_.at(id).is_constant(); }

  // Returns the number of an operand's readers that are no moves: merge_moves lets moves read the operand before it.
  int readers_but_moves(OperandId id) const {
    const auto index = static_cast<size_t>(id);
    return uses_.readers[index] - (index < read_by_moves_.size() ? read_by_moves_[index] : 0);
  }

  // Returns the RESHAPE or TRANSPOSE that makes an operand, if only `reader` and moves read the operand; else null.
  const Operation* move_before(OperandId id, const Operation& reader) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    if (index < 0) return nullptr;
    const Operation& move = model_.operations[static_cast<size_t>(index)];
    const auto reads = std::count(reader.inputs.begin(), reader.inputs.end(), id);
    return readers_but_moves(id) == reads && is_move(model_, move) ? &move : nullptr;
  }

  // Returns the move that all variable inputs have before them; null if they differ, or if an input is broadcast.
  const Operation* common_move(const Operation& operation) const {
    const Operation* common = nullptr;
    for (const OperandId id : operation.inputs) {
      if (!is_variable(id)) continue;
      const Operation* move = move_before(id, operation);
      if (move == nullptr || (common != nullptr && !are_alike(model_, *move, *common))) return nullptr;
      common = move;
    }
    if (common == nullptr || model_.at(common->outputs[0]).dims != model_.at(operation.outputs[0]).dims) return nullptr;
    return common;
  }

  bool sink_below(const Operation& operation) {
    if (has_trait(operation.code, OperationTrait::kSoftmax)) {
      return sink_below_softmax(operation);
    }
    if (operation.code == OperationCode::BATCH_MATMUL) return sink_below_products(operation);
    if (!can_be_moved(model_.at(operation.outputs[0]).type)) return false;
    if (operation.code == OperationCode::CONCATENATION) return sink_below_concatenation(operation);
    if (!has_trait(operation.code, OperationTrait::kElementwise)) return false;
    const Operation* found = common_move(operation);
    if (found == nullptr) return sink_one_reshape(operation);
    const Operation move = *found;
    Operation raised = operation;
    for (OperandId& id : raised.inputs) {
      if (is_variable(id)) {
        id = model_.operations[static_cast<size_t>(uses_.producer[static_cast<size_t>(id)])].inputs[0];
        continue;
      }
      const auto argument = before_move(builder_, id, move);
      if (!argument) return false;
      id = *argument;
    }
    place(raised, move);
    return true;
  }

  // Sinks RESHAPEs of operands of different sizes, if all variable inputs have one. One RESHAPE whose input no move
  // made goes below the operation. The others become RESHAPEs to that input's sizes and may cancel moves before them.
  bool sink_one_reshape(const Operation& operation) {
    const Operation* base = base_reshape(operation);
    if (base == nullptr) return false;
    const Operation move = *base;
    const Dims dims = model_.at(operation.outputs[0]).dims;
    Operation raised = operation;
    for (OperandId& id : raised.inputs) {
      if (is_variable(id)) {
        if (model_.at(id).dims != dims) return false;
        continue;
      }
      const auto argument = before_move(builder_, id, move);
      if (!argument) return false;
      id = *argument;
    }
    for (OperandId& id : raised.inputs) {
      if (is_variable(id)) id = reshaped(id, model_.at(move.inputs[0]).dims);
    }
    place(raised, move);
    return true;
  }

  const Operation* base_reshape(const Operation& operation) const {
    const Operation* base = nullptr;
    for (const OperandId id : operation.inputs) {
      if (!is_variable(id)) continue;
      const Operation* move = move_before(id, operation);
      if (move == nullptr || move->code != OperationCode::RESHAPE) return nullptr;
      if (base == nullptr && !is_moved(move->inputs[0]) && model_.at(move->inputs[0]).dims.size() <= kMaxMoveRank)
        base = move;
    }
    return base;
  }

  // Returns true for the result of a move.
  bool is_moved(OperandId id) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    return index >= 0 && is_move(model_, model_.operations[static_cast<size_t>(index)]);
  }

  // Returns the input of the RESHAPE that makes an operand, reshaped to `dims`.
  OperandId reshaped(OperandId id, Dims dims) {
    const OperandId source = model_.operations[static_cast<size_t>(uses_.producer[static_cast<size_t>(id)])].inputs[0];
    Operand type = model_.at(source);
    if (type.dims == dims) return source;
    type.dims = dims;
    const OperandId result = builder_.variable(type);
    append({OperationCode::RESHAPE, {source, builder_.int32_tensor(std::move(dims))}, {result}, source_});
    uses_.readers[static_cast<size_t>(result)] = 1;
    return result;
  }

  // Sinks RESHAPEs below a CONCATENATION along an axis that the RESHAPEs keep.
  bool sink_below_concatenation(const Operation& operation) {
    const Operation* base = base_reshape(operation);
    const Dims* named = model_.at(operation.inputs.back()).ints();
    if (base == nullptr || named == nullptr) return false;
    const Operation move = *base;
    const Dims joined = model_.at(operation.outputs[0]).dims;
    const auto axis = static_cast<size_t>((*named)[0].value() + ((*named)[0].value() < 0 ? joined.size() : 0));
    Dims before = model_.at(move.inputs[0]).dims;
    const Dims after = model_.at(move.outputs[0]).dims;
    size_t place_of_axis = 0;
    while (place_of_axis < before.size() && !(before[place_of_axis] == after[axis] &&
                                              product_after(before, place_of_axis) == product_after(after, axis))) {
      ++place_of_axis;
    }
    if (place_of_axis == before.size()) return false;
    Operation raised = operation;
    for (size_t i = 0; i + 1 < raised.inputs.size(); ++i) {
      OperandId& id = raised.inputs[i];
      if (!is_variable(id)) return false;
      before[place_of_axis] = model_.at(id).dims[axis];
      id = reshaped(id, before);
    }
    raised.inputs.back() = builder_.int32(static_cast<int64_t>(place_of_axis));
    before[place_of_axis] = joined[axis];
    place(raised, move, before);
    return true;
  }

  bool sink_below_softmax(const Operation& operation) {
    const Operation* found = move_before(operation.inputs[0], operation);
    if (found == nullptr) return false;
    const Operation move = *found;
    const Dims before = model_.at(move.inputs[0]).dims;
    const Dims after = model_.at(move.outputs[0]).dims;
    const auto last = static_cast<int64_t>(after.size()) - 1;
    const Dims* axis = operation.inputs.size() > 2 ? model_.at(operation.inputs[2]).ints() : nullptr;
    const bool is_last = axis == nullptr ? after.size() == 2 : (*axis)[0] == Dim(last) || (*axis)[0] == Dim(-1);
    const bool keeps_last = move.code == OperationCode::RESHAPE || order_of(model_, move).back() == last;
    if (!is_last || !keeps_last || before.size() < 2 || before.size() > 4 || before.back() != after.back())
      return false;
    Operation raised = operation;
    raised.inputs[0] = move.inputs[0];
    raised.inputs.resize(2);
    const bool is_default = operation.code == OperationCode::SOFTMAX && before.size() == 2;
    if (axis == nullptr && !is_default) return false;  // the axis is an argument of later feature levels
    if (!is_default) raised.inputs.push_back(builder_.int32(static_cast<int64_t>(before.size()) - 1));
    place(raised, move);
    return true;
  }

  // Sinks the RESHAPEs of both factors that merge the same axes of a batch.
  bool sink_below_products(const Operation& operation) {
    const Operation* left = move_before(operation.inputs[0], operation);
    const Operation* right = move_before(operation.inputs[1], operation);
    if (left == nullptr || right == nullptr || !merges_batch(*left) || !merges_batch(*right)) return false;
    Dims dims = model_.at(left->inputs[0]).dims;
    const Dims of_right = model_.at(right->inputs[0]).dims, product = model_.at(operation.outputs[0]).dims;
    const auto batch = static_cast<std::ptrdiff_t>(dims.size()) - 2;
    if (dims.size() != of_right.size() || !std::equal(dims.begin(), dims.begin() + batch, of_right.begin())) {
      return false;
    }
    std::copy(product.end() - 2, product.end(), dims.begin() + batch);
    Operation raised = operation;
    raised.inputs[0] = left->inputs[0];
    raised.inputs[1] = right->inputs[0];
    place(raised, Operation(*left), dims);
    return true;
  }

  // Returns true for a RESHAPE that keeps the last two axes.
  bool merges_batch(const Operation& move) const {
    const Dims &before = model_.at(move.inputs[0]).dims, &after = model_.at(move.outputs[0]).dims;
    return move.code == OperationCode::RESHAPE && before.size() > after.size() && before.size() <= kMaxMoveRank &&
           after.size() > 2 && std::equal(before.end() - 2, before.end(), after.end() - 2);
  }

  // Appends `operation` with the sizes before `move`, above further moves if possible, and then the move.
  void place(const Operation& operation, const Operation& move) {
    place(operation, move, model_.at(move.inputs[0]).dims);
  }

  void place(Operation operation, const Operation& move, Dims dims) {
    const OperandId output = operation.outputs[0];
    const OperandId argument =
        move.code == OperationCode::RESHAPE ? builder_.int32_tensor(model_.at(output).dims) : move.inputs[1];
    Operand type = model_.at(output);
    type.dims = std::move(dims);
    operation.outputs[0] = builder_.variable(type);
    const OperandId raised = operation.outputs[0];
    if (!sink_below(operation)) append(std::move(operation));
    uses_.readers[static_cast<size_t>(raised)] = 1;
    append({move.code, {raised, argument}, {output}, move.source});
  }

  Model& model_;
  Builder builder_;
  Uses uses_;
  std::string source_;              // source line of the operation that is being placed
  std::vector<int> read_by_moves_;  // by operand of the original model
};

}  // namespace

void sink_moves(Model& model) {
  merge_moves(model);
  // In one round over all operations, each move sinks as far as it can. merge_moves may make moves that sink in the
  // next round. The model is valid after each round, so a limit of one round per operation is safe.
  const auto sink = [&model] { return MoveSinker(model).run() || sink_regions(model); };
  for (size_t rounds = model.operations.size(); rounds > 0 && sink(); --rounds) merge_moves(model);
}

}  // namespace nnapi_convert::nnapi
