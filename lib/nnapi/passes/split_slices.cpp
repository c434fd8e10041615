// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/split_slices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/insertions.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "lib/nnapi/passes/move_chain.h"
#include "lib/nnapi/passes/moves.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kSplitLevel = 3;

// A slice that takes one entry of an axis.
struct Slice {
  size_t operation;
  size_t axis;
  int64_t entry;
};

class Splitting {
 public:
  explicit Splitting(Model& model) : model_(model), builder_(model), uses_(model) {}

  void run() {
    std::vector<std::vector<Slice>> groups;
    for (auto& [key, slices] : slices_by_source()) {
      if (are_all_entries(slices)) groups.push_back(slices);
    }
    for (const std::vector<Slice>& slices : groups) split(slices);
    if (!made_.empty()) made_.apply(model_);
  }

 private:
  // The operand before a RESHAPE that makes the slice's source, the source's sizes, and the axis.
  using Key = std::tuple<OperandId, std::vector<int64_t>, size_t>;

  static size_t first(const std::vector<Slice>& slices) {
    size_t least = slices.front().operation;
    for (const Slice& slice : slices) least = std::min(least, slice.operation);
    return least;
  }

  const Operation* producer(OperandId id) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &model_.operations[static_cast<size_t>(index)];
  }

  std::optional<std::vector<int64_t>> numbers(OperandId id) const {
    const Dims* values = model_.at(id).ints();
    return values != nullptr && all_fixed(*values) ? std::optional(fixed_values(*values)) : std::nullopt;
  }

  // Returns the axis and the entry that a STRIDED_SLICE takes, if it takes one of several, and keeps all axes.
  std::optional<Slice> slice_of(size_t index) const {
    const Operation& operation = model_.operations[index];
    if (operation.code != OperationCode::STRIDED_SLICE) return std::nullopt;
    const Dims& dims = model_.at(operation.inputs[0]).dims;
    const auto begin = numbers(operation.inputs[1]), end = numbers(operation.inputs[2]);
    if (!begin || !end || !all_fixed(dims) || dims.size() != model_.at(operation.outputs[0]).dims.size()) {
      return std::nullopt;
    }
    for (size_t mask = 4; mask < 7; ++mask) {
      if (numbers(operation.inputs[mask]) != std::vector<int64_t>{0}) return std::nullopt;
    }
    const auto strides = numbers(operation.inputs[3]);
    if (!strides || std::any_of(strides->begin(), strides->end(), [](int64_t stride) { return stride != 1; })) {
      return std::nullopt;
    }
    std::optional<Slice> result;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if ((*begin)[axis] == 0 && (*end)[axis] == dims[axis].value()) continue;
      if (result || (*begin)[axis] < 0 || (*end)[axis] != (*begin)[axis] + 1) return std::nullopt;
      result = Slice{index, axis, (*begin)[axis]};
    }
    return result;
  }

  std::map<Key, std::vector<Slice>> slices_by_source() const {
    std::map<Key, std::vector<Slice>> result;
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const auto slice = slice_of(i);
      if (!slice) continue;
      const OperandId source = model_.operations[i].inputs[0];
      const Operation* made_by = producer(source);
      const bool is_reshaped = made_by != nullptr && made_by->code == OperationCode::RESHAPE;
      const OperandId base = is_reshaped ? made_by->inputs[0] : source;
      result[{base, fixed_values(model_.at(source).dims), slice->axis}].push_back(*slice);
    }
    return result;
  }

  bool are_all_entries(const std::vector<Slice>& slices) const {
    const OperandId source = model_.operations[slices[0].operation].inputs[0];
    std::vector<int64_t> entries;
    for (const Slice& slice : slices) entries.push_back(slice.entry);
    std::sort(entries.begin(), entries.end());
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i] != static_cast<int64_t>(i)) return false;
    }
    return entries.size() > 1 && model_.at(source).dims[slices[0].axis] == Dim(static_cast<int64_t>(entries.size()));
  }

  // Returns how the source comes from the result of an operation that is no move, and that operand.
  std::optional<std::pair<OperandId, MoveChain>> moves_to(OperandId source) const {
    std::vector<const Operation*> moves;
    OperandId base = source;
    for (const Operation* move = producer(base); move != nullptr && is_move(model_, *move); move = producer(base)) {
      moves.push_back(move);
      base = move->inputs[0];
    }
    const Operation* layer = producer(base);
    const bool is_of_layer = layer != nullptr && layer->code == OperationCode::FULLY_CONNECTED;
    if (moves.empty() || !is_of_layer || !all_fixed(model_.at(base).dims)) return std::nullopt;
    MoveChain chain(model_.at(base).dims);
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
      if ((*move)->code == OperationCode::TRANSPOSE) {
        chain.transpose(order_of(model_, **move));
      } else if (!chain.reshape(model_.at((*move)->outputs[0]).dims)) {
        return std::nullopt;
      }
    }
    return std::pair(base, chain);
  }

  // Adds the moves from `from` to the slice's result before the operation with that number.
  void add_moves(size_t number, OperandId from, OperandId to, std::vector<Move> moves, const std::string& source) {
    if (moves.empty()) moves.push_back({{}, model_.at(to).dims});
    for (size_t i = 0; i < moves.size(); ++i) {
      Operand type = model_.at(to);
      type.dims = moves[i].dims;
      const OperandId result = i + 1 == moves.size() ? to : builder_.variable(type);
      const bool reshapes = moves[i].order.empty();
      const OperandId argument = builder_.int32_tensor(reshapes ? moves[i].dims : to_dims(moves[i].order));
      made_.add_before(
          number, {reshapes ? OperationCode::RESHAPE : OperationCode::TRANSPOSE, {from, argument}, {result}, source});
      from = result;
    }
  }

  void split(const std::vector<Slice>& slices) {
    const Operation origin = model_.operations[slices[0].operation];
    const auto base = moves_to(origin.inputs[0]);
    const auto part = base ? base->second.part_of(slices[0].axis) : std::nullopt;
    const auto moves = part ? part->moves.shortest() : std::nullopt;
    if (!moves) return;
    Operand type = model_.at(base->first);
    const auto count = static_cast<int64_t>(slices.size());
    type.dims[part->source_axis] = Dim(type.dims[part->source_axis].value() / count);
    Operation splitting{OperationCode::SPLIT,
                        {base->first, builder_.int32(static_cast<int64_t>(part->source_axis)), builder_.int32(count)},
                        {},
                        origin.source};
    for (int64_t i = 0; i < count; ++i) splitting.outputs.push_back(builder_.variable(type));
    const size_t place = first(slices);
    made_.add_before(place, splitting);
    for (const Slice& slice : slices) {
      Operation& operation = model_.operations[slice.operation];
      add_moves(place, splitting.outputs[static_cast<size_t>(slice.entry)], operation.outputs[0], *moves,
                operation.source);
      operation.outputs.clear();
    }
  }

  Model& model_;
  Builder builder_;
  Uses uses_;
  Insertions made_;
};

}  // namespace

void split_slices(Model& model, int feature_level) {
  if (feature_level < kSplitLevel) return;
  Splitting(model).run();
  drop_unread(model);
  merge_moves(model);
}

}  // namespace nnapi_convert::nnapi
