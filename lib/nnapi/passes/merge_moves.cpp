// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/merge_moves.h"

#include <algorithm>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/move_chain.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kHighRankCost = 100;  // NNAPI has no tensors of such ranks: any number of moves is better

class MoveMerger {
 public:
  explicit MoveMerger(Model& model) : model_(model), builder_(model), uses_(model) {}

  void run() {
    std::vector<Operation> operations = std::move(model_.operations);
    model_.operations.clear();
    std::fill(uses_.producer.begin(), uses_.producer.end(), -1);
    for (Operation& operation : operations) {
      read_replaced(operation);
      builder_.set_source(operation.source);
      if (is_move(model_, operation)) {
        place_move(operation);
      } else {
        if (operation.code == OperationCode::FULLY_CONNECTED) read_through_reshape(operation);
        append(operation);
      }
    }
    drop_unread();
  }

 private:
  const Operation* producer(OperandId id) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &model_.operations[static_cast<size_t>(index)];
  }

  int& readers(OperandId id) { return uses_.readers[static_cast<size_t>(id)]; }

  void append(Operation operation) {
    uses_.producer.resize(model_.operands.size(), -1);
    uses_.readers.resize(model_.operands.size(), 0);
    for (const OperandId id : operation.outputs) {
      uses_.producer[static_cast<size_t>(id)] = static_cast<int>(model_.operations.size());
    }
    model_.operations.push_back(std::move(operation));
  }

  OperandId replaced(OperandId id) const {
    const auto index = static_cast<size_t>(id);
    return index < replacement_.size() && replacement_[index] >= 0 ? replacement_[index] : id;
  }

  void read_replaced(Operation& operation) const {
    for (OperandId& id : operation.inputs) id = replaced(id);
  }

  bool is_model_output(OperandId id) const {
    return std::any_of(model_.outputs.begin(), model_.outputs.end(),
                       [id](const Boundary& output) { return output.operand == id; });
  }

  // Returns the chain of moves that ends in `last`, the last move first.
  std::vector<const Operation*> chain_before(const Operation& last) const {
    std::vector<const Operation*> chain;
    for (const Operation* move = producer(last.inputs[0]); move != nullptr && is_move(model_, *move);
         move = producer(move->inputs[0])) {
      chain.push_back(move);
    }
    return chain;
  }

  bool apply(MoveChain& chain, const Operation& move) const {
    if (move.code == OperationCode::RESHAPE) return chain.reshape(model_.at(move.outputs[0]).dims);
    chain.transpose(order_of(model_, move));
    return true;
  }

  static int cost_of(const Dims& dims) { return dims.size() > kMaxMoveRank ? kHighRankCost : 0; }
  int cost_of(OperandId from, OperandId to) const {
    return 1 + cost_of(model_.at(from).dims) + cost_of(model_.at(to).dims);
  }
  int cost_of(OperandId source, const std::vector<Move>& moves) const {
    int cost = moves.empty() ? 0 : cost_of(model_.at(source).dims);
    for (const Move& move : moves) cost += 1 + cost_of(move.dims);
    return cost;
  }

  // Returns the fewest moves from chain[count - 1]'s input to the output of `last`.
  std::optional<std::vector<Move>> merged(const std::vector<const Operation*>& chain, size_t count,
                                          const Operation& last) const {
    const Dims& source = model_.at(count == 0 ? last.inputs[0] : chain[count - 1]->inputs[0]).dims;
    const Dims& result = model_.at(last.outputs[0]).dims;
    const auto is_reshape = [](const Operation& move) { return move.code == OperationCode::RESHAPE; };
    const bool are_reshapes =
        is_reshape(last) && std::all_of(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(count),
                                        [&](const Operation* move) { return is_reshape(*move); });
    if (are_reshapes) return source == result ? std::vector<Move>{} : std::vector<Move>{{{}, result}};
    MoveChain moves(source);
    for (size_t i = count; i-- > 0;) {
      const Operation& next = i == 0 ? last : *chain[i - 1];
      const bool is_overwritten = is_reshape(*chain[i]) && is_reshape(next);  // `next` takes the same sequence
      if (!is_overwritten && !apply(moves, *chain[i])) return std::nullopt;
    }
    if (!apply(moves, last)) return std::nullopt;
    return moves.shortest();
  }

  void place_move(const Operation& last) {
    const std::vector<const Operation*> chain = chain_before(last);
    size_t best = 0;
    int best_saving = 0;
    std::optional<std::vector<Move>> best_moves;
    int removed = cost_of(last.inputs[0], last.outputs[0]);  // cost of the operations that nothing would read any more
    bool all_single = true;
    for (size_t count = 0; count <= chain.size(); ++count) {
      if (count > 0) {
        all_single = all_single && readers(chain[count - 1]->outputs[0]) == 1;
        if (all_single) removed += cost_of(chain[count - 1]->inputs[0], chain[count - 1]->outputs[0]);
      }
      auto moves = merged(chain, count, last);
      if (!moves) continue;
      const OperandId source = count == 0 ? last.inputs[0] : chain[count - 1]->inputs[0];
      const int saving = removed - cost_of(source, *moves);
      if (saving <= best_saving) continue;
      best = count;
      best_saving = saving;
      best_moves = std::move(moves);
    }
    if (!best_moves) return append(last);
    const OperandId source = best == 0 ? last.inputs[0] : chain[best - 1]->inputs[0];
    replace(last, source, *best_moves);
  }

  void replace(const Operation& last, OperandId source, std::vector<Move> moves) {
    ++readers(source);
    unread(last.inputs[0]);
    const OperandId output = last.outputs[0];
    const bool can_be_output = producer(source) != nullptr && !is_model_output(source);
    if (moves.empty() && (can_be_output || !is_model_output(output))) {
      replacement_.resize(model_.operands.size(), -1);
      replacement_[static_cast<size_t>(output)] = source;
      readers(source) += readers(output) - 1;
      for (Boundary& boundary : model_.outputs) {
        if (boundary.operand == output) boundary.operand = source;
      }
      return;
    }
    if (moves.empty()) moves.push_back({{}, model_.at(output).dims});
    for (size_t i = 0; i < moves.size(); ++i) {
      const bool is_last = i + 1 == moves.size();
      Operand type = model_.at(output);
      type.dims = moves[i].dims;
      const OperandId result = is_last ? output : builder_.variable(type);
      const bool reshapes = moves[i].order.empty();
      const OperandId argument = builder_.int32_tensor(reshapes ? moves[i].dims : to_dims(moves[i].order));
      append({reshapes ? OperationCode::RESHAPE : OperationCode::TRANSPOSE, {source, argument}, {result}, last.source});
      if (!is_last) readers(result) = 1;
      source = result;
    }
  }

  // Removes one reader of an operand. If nothing reads it any more, its producer no longer reads its own inputs.
  void unread(OperandId id) {
    if (--readers(id) > 0) return;
    const Operation* maker = producer(id);
    if (maker != nullptr && is_move(model_, *maker)) unread(maker->inputs[0]);
  }

  // True if the order of the elements in memory stays.
  bool keeps_order(const Operation& move) const {
    if (move.code == OperationCode::RESHAPE) return true;
    return keeps_sequence(model_.at(move.inputs[0]).dims, order_of(model_, move));
  }

  // Lets FULLY_CONNECTED read the input of a RESHAPE: it takes the elements in their order, as many for each row as it
  // has weights for an output. A tensor of rank 4 may get another layout, which changes the order of its elements.
  void read_through_reshape(Operation& operation) {
    const Operation* move = producer(operation.inputs[0]);
    if (move == nullptr || !is_move(model_, *move) || !keeps_order(*move)) return;
    const OperandId source = move->inputs[0];
    const Dims& from = model_.at(source).dims;
    const Dims& to = model_.at(operation.inputs[0]).dims;
    const Operation* before = producer(source);
    const bool has_layout = from.size() < 4 || (before != nullptr && before->code == OperationCode::TRANSPOSE);
    const bool can_be_read =
        from.size() >= 2 && from.size() <= kMaxMoveRank && (has_layout || from.back() == to.back());
    if (!can_be_read || (move->code == OperationCode::TRANSPOSE && from.size() == 4)) return;
    ++readers(source);
    unread(operation.inputs[0]);
    operation.inputs[0] = source;
  }

  void drop_unread() {
    auto& operations = model_.operations;
    operations.erase(std::remove_if(operations.begin(), operations.end(),
                                    [&](const Operation& operation) {
                                      return is_move(model_, operation) && readers(operation.outputs[0]) <= 0;
                                    }),
                     operations.end());
  }

  Model& model_;
  Builder builder_;
  Uses uses_;
  std::vector<OperandId> replacement_;  // by operand: the operand to read in its place, or -1
};

}  // namespace

void merge_moves(Model& model) {
  MoveMerger(model).run();
}

}  // namespace nnapi_convert::nnapi
