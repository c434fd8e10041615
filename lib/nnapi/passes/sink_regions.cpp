// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/sink_regions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "lib/format/operation_table.h"
#include "lib/nnapi/passes/insertions.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

// Connected operations below which moves can sink, all at once.
struct Region {
  std::set<OperandId> entries;     // results of moves of one kind
  std::vector<size_t> operations;  // in their order
  std::set<OperandId> results;     // of the operations
};

class RegionSinker {
 public:
  explicit RegionSinker(Model& model) : model_(model), builder_(model), readers_(readers_of(model)) {
    producer_.assign(model.operands.size(), nullptr);
    for (size_t i = 0; i < model.operations.size(); ++i) {
      const Operation& operation = model.operations[i];
      for (const OperandId id : operation.outputs) producer_[static_cast<size_t>(id)] = &operation;
    }
    for (const Boundary& output : model.outputs) model_outputs_.insert(output.operand);
    is_changed_.assign(model.operations.size(), false);
  }

  bool run() {
    for (const std::vector<size_t>& moves : moves_by_kind()) {
      if (is_changed_[moves[0]]) continue;
      const Operation move = model_.operations[moves[0]];
      for (const Region& region : regions_behind(moves)) {
        if (region.operations.size() > 1 && saved_moves(region, move) > 0) sink(region, move);
      }
    }
    if (made_.empty()) return false;
    made_.apply(model_);
    return true;
  }

 private:
  const std::vector<size_t>& readers(OperandId id) const { return readers_[static_cast<size_t>(id)]; }
  const Dims& dims(OperandId id) const { return model_.at(id).dims; }

  const Operation* move_of(OperandId id) const {
    const Operation* operation = producer_[static_cast<size_t>(id)];
    return operation != nullptr && is_move(model_, *operation) ? operation : nullptr;
  }

  // Returns the moves that may sink, those that are alike together.
  std::vector<std::vector<size_t>> moves_by_kind() const {
    using Kind = std::tuple<OperationCode, std::string, std::string, std::vector<int64_t>>;
    std::map<Kind, std::vector<size_t>> result;
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation& move = model_.operations[i];
      if (!is_move(model_, move) || !can_be_moved(model_.at(move.outputs[0]).type)) continue;
      const Dims &before = dims(move.inputs[0]), &after = dims(move.outputs[0]);
      if (before.size() > kMaxMoveRank) continue;
      result[{move.code, to_text(before), to_text(after), order_of(model_, move)}].push_back(i);
    }
    std::vector<std::vector<size_t>> kinds;
    for (auto& [kind, moves] : result) kinds.push_back(std::move(moves));
    return kinds;
  }

  // Returns whether the operation can come before the move, if its inputs can.
  bool joins(size_t number, const std::set<OperandId>& moved, const Operation& move) {
    const Operation& operation = model_.operations[number];
    if (is_changed_[number] || !has_trait(operation.code, OperationTrait::kElementwise)) return false;
    if (dims(operation.outputs[0]) != dims(move.outputs[0])) return false;
    if (!can_be_moved(model_.at(operation.outputs[0]).type)) return false;
    return std::all_of(operation.inputs.begin(), operation.inputs.end(), [&](OperandId id) {
      return model_.at(id).is_constant() ? before_move(builder_, id, move).has_value() : moved.count(id) != 0;
    });
  }

  // Grows regions from the results of the moves, in the order of the operations. Operations that read or make the same
  // tensor are in the same region.
  std::vector<Region> regions_behind(const std::vector<size_t>& moves) {
    const Operation move = model_.operations[moves[0]];
    std::set<OperandId> entries, moved;
    std::set<size_t> next;
    const auto add = [&](OperandId id) {
      moved.insert(id);
      next.insert(readers(id).begin(), readers(id).end());
    };
    for (const size_t number : moves) {
      entries.insert(model_.operations[number].outputs[0]);
      add(model_.operations[number].outputs[0]);
    }
    std::vector<size_t> joined;
    while (!next.empty()) {
      const size_t number = *next.begin();
      next.erase(next.begin());
      if (!joins(number, moved, move)) continue;
      add(model_.operations[number].outputs[0]);
      joined.push_back(number);
    }
    return connected(joined, entries);
  }

  OperandId root(std::map<OperandId, OperandId>& parents, OperandId id) const {
    for (auto found = parents.find(id); found != parents.end() && found->second != id; found = parents.find(id)) {
      const auto above = parents.find(found->second);
      if (above != parents.end()) found->second = above->second;  // shortens the way for the next search
      id = found->second;
    }
    return id;
  }

  std::vector<Region> connected(const std::vector<size_t>& operations, const std::set<OperandId>& entries) const {
    std::map<OperandId, OperandId> parents;
    for (const size_t number : operations) {
      const Operation& operation = model_.operations[number];
      for (const OperandId id : operation.inputs) {
        if (!model_.at(id).is_constant()) parents[root(parents, id)] = root(parents, operation.outputs[0]);
      }
    }
    std::map<OperandId, Region> regions;
    for (const size_t number : operations) {
      const Operation& operation = model_.operations[number];
      Region& region = regions[root(parents, operation.outputs[0])];
      region.operations.push_back(number);
      region.results.insert(operation.outputs[0]);
      for (const OperandId id : operation.inputs) {
        if (entries.count(id) != 0) region.entries.insert(id);
      }
    }
    std::vector<Region> result;
    for (auto& [id, region] : regions) result.push_back(std::move(region));
    return result;
  }

  bool is_inside(const Region& region, size_t number) const {
    return std::binary_search(region.operations.begin(), region.operations.end(), number);
  }

  bool is_inverse(const Operation& operation, const Operation& move) const {
    if (operation.code != move.code || !is_move(model_, operation)) return false;
    if (move.code == OperationCode::RESHAPE) return dims(operation.outputs[0]) == dims(move.inputs[0]);
    return order_of(model_, operation) == inverse(order_of(model_, move));
  }

  // Returns how many moves fewer the model has if they sink below the region. An entry's move goes if all its readers
  // are in the region. A result that others read needs a move, which vanishes before inverse moves.
  int saved_moves(const Region& region, const Operation& move) const {
    int saved = 0;
    for (const OperandId entry : region.entries) {
      const bool goes =
          model_outputs_.count(entry) == 0 && std::all_of(readers(entry).begin(), readers(entry).end(),
                                                          [&](size_t number) { return is_inside(region, number); });
      if (goes) ++saved;
    }
    for (const OperandId result : region.results) {
      bool needs_move = model_outputs_.count(result) != 0;
      for (const size_t number : readers(result)) {
        if (is_inside(region, number)) continue;
        if (is_inverse(model_.operations[number], move)) {
          ++saved;
        } else {
          needs_move = true;
        }
      }
      if (needs_move) --saved;
    }
    return saved;
  }

  // Puts each operation of the region before the move, and the move behind its result. Operations that nothing reads
  // any more are dropped later.
  void sink(const Region& region, const Operation& from) {
    const Operation move = from;
    std::map<OperandId, OperandId> before;
    for (const OperandId entry : region.entries) before[entry] = move_of(entry)->inputs[0];
    for (const size_t number : region.operations) {
      Operation operation = model_.operations[number];
      for (OperandId& id : operation.inputs) {
        id = model_.at(id).is_constant() ? *before_move(builder_, id, move) : before.at(id);
      }
      const OperandId result = operation.outputs[0];
      Operand type = model_.at(result);
      type.dims = dims(move.inputs[0]);
      operation.outputs[0] = before[result] = builder_.variable(type);
      made_.add_before(number, operation);
      Operation& place = model_.operations[number];
      place = {move.code, {operation.outputs[0], move.inputs[1]}, {result}, move.source};
      is_changed_[number] = true;
    }
  }

  Model& model_;
  Builder builder_;
  std::vector<std::vector<size_t>> readers_;  // by operand: the operations that read it
  std::vector<const Operation*> producer_;    // by operand: the operation that makes it, or null
  std::set<OperandId> model_outputs_;
  std::vector<bool> is_changed_;  // by operation: sunk with a region before
  Insertions made_;
};

}  // namespace

bool sink_regions(Model& model) {
  return RegionSinker(model).run();
}

}  // namespace nnapi_convert::nnapi
