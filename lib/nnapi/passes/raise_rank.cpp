// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/raise_rank.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/axis_arguments.h"
#include "lib/nnapi/passes/moved_operand.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr size_t kLow = 3, kHigh = 4;  // ranks of [N, C, L] and [N, C, 1, L]
constexpr int64_t kNewAxis = 2;        // the new axis, of size 1, in [N, C, 1, L]

// Turns the dims [N, C, L] into [N, C, 1, L]; also those of lower ranks, whose axes are the last ones.
Dims raised(Dims dims) {
  if (dims.size() < 2) return dims;
  dims.insert(dims.end() - 1, Dim(1));
  return dims;
}

int64_t raised_axis(int64_t axis) {
  const int64_t position = axis < 0 ? axis + static_cast<int64_t>(kLow) : axis;
  return position < kNewAxis ? position : position + 1;
}

class RankRaiser {
 public:
  explicit RankRaiser(Model& model) : model_(model), builder_(model) {}

  void run() {
    const std::vector<Operation> operations = std::exchange(model_.operations, {});
    for (const Operation& operation : operations) {
      builder_.set_source(operation.source);
      if (is_move(model_, operation)) {
        place_move(operation);
      } else if (!raise(operation)) {
        model_.operations.push_back(operation);
      }
    }
  }

 private:
  size_t rank(OperandId id) const { return model_.at(id).dims.size(); }
  bool is_raised(OperandId id) const { return pictures_.count(id) != 0; }

  void place_move(Operation operation) {
    const OperandId input = operation.inputs[0], output = operation.outputs[0];
    const bool is_reshape = operation.code == OperationCode::RESHAPE;
    if (is_raised(input) && !is_reshape) return place_transpose(operation);
    if (is_raised(input)) operation.inputs[0] = pictures_.at(input);
    const Dims& before = model_.at(operation.inputs[0]).dims;
    const Dims& after = model_.at(output).dims;
    if (is_reshape && after.size() == kLow && before == raised(after)) pictures_.emplace(output, operation.inputs[0]);
    model_.operations.push_back(std::move(operation));
  }

  // Transposes the picture instead. The row's axis goes to position 1, as in [N, 1, L, C]: from NHWC, that order needs
  // no move.
  void place_transpose(const Operation& operation) {
    const OperandId picture = pictures_.at(operation.inputs[0]);
    const Dims after = model_.at(operation.outputs[0]).dims;
    std::vector<int64_t> order;
    for (const int64_t axis : order_of(model_, operation)) order.push_back(raised_axis(axis));
    order.insert(order.begin() + 1, kNewAxis);
    Operand type = model_.at(picture);
    type.dims = permute(type.dims, order);
    const OperandId result = builder_.add(
        OperationCode::TRANSPOSE, {picture, builder_.int32_tensor(Dims(order.begin(), order.end()))}, std::move(type));
    model_.operations.push_back(
        {OperationCode::RESHAPE, {result, builder_.int32_tensor(after)}, operation.outputs, operation.source});
  }

  // Appends the operation with [N, C, 1, L] in place of [N, C, L], and RESHAPEs of its results to [N, C, L]. Returns
  // false if the operation can't be raised.
  bool raise(const Operation& operation) {
    if (!std::any_of(operation.inputs.begin(), operation.inputs.end(), [&](OperandId id) { return is_raised(id); })) {
      return false;
    }
    const SignatureMatch match = match_signature(model_, operation);
    const bool is_along = is_along_axes(operation.code);
    if (match.signature == nullptr || (!is_along && !has_trait(operation.code, OperationTrait::kElementwise)))
      return false;
    if (!can_raise_tensors(operation, is_along)) return false;
    Operation result = operation;
    if (is_along && !rewrite_arguments(*match.signature, result)) return false;
    for (size_t i = 0; i < result.inputs.size(); ++i) {
      if (model_.at(result.inputs[i]).ints() == nullptr) result.inputs[i] = in_picture(result.inputs[i]);
    }
    append(result, operation);
    return true;
  }

  bool can_raise_tensors(const Operation& operation, bool is_along) const {
    const auto is_fit = [&](OperandId id) {
      const Operand& operand = model_.at(id);
      if (operand.is_omitted() || operand.subgraph() != nullptr) return false;
      if (operand.ints() != nullptr) return is_along || operand.dims.size() < 2;
      if (is_raised(id) || operand.is_constant() || is_single_value(model_, id)) return operand.dims.size() <= kLow;
      // A RESHAPE adds the row's axis; the layout of pictures must not need a TRANSPOSE besides.
      return can_be_moved(operand.type) && operand.dims.size() == kLow && keeps_sequence(raised(operand.dims), kToNhwc);
    };
    const auto is_result = [&](OperandId id) { return can_be_moved(model_.at(id).type) && rank(id) <= kLow; };
    return std::all_of(operation.inputs.begin(), operation.inputs.end(), is_fit) &&
           std::all_of(operation.outputs.begin(), operation.outputs.end(), is_result);
  }

  OperandId in_picture(OperandId id) {
    const auto found = pictures_.find(id);
    if (found != pictures_.end()) return found->second;
    Operand operand = model_.at(id);
    if (operand.dims.size() < 2) return id;
    operand.dims = raised(operand.dims);
    if (const Constant* constant = operand.constant()) {
      return builder_.tensor(constant->then(Reshape{fixed_values(operand.dims)}), operand.scale, operand.zero_point);
    }
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(operand.dims)}, operand);
  }

  // Rewrites the arguments that name axes; false if one has no form for pictures.
  bool rewrite_arguments(const SignatureInfo& signature, Operation& operation) {
    const bool removes_axes = rank(operation.outputs[0]) < kLow;
    bool names_axes = false;
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      const ArgumentRole role = argument_of_input(signature, i, operation.inputs.size()).role;
      if (role == ArgumentRole::kNone || role == ArgumentRole::kActivation) continue;
      if (model_.at(operation.inputs[i]).ints() == nullptr) return false;
      if (removes_axes && role != ArgumentRole::kAxes) return false;
      names_axes = names_axes || role == ArgumentRole::kAxes;
      const bool is_begin = i == 1 && operation.code != OperationCode::TILE;
      const std::optional<OperandId> argument = rewritten(operation.inputs[i], role, removes_axes, is_begin);
      if (!argument) return false;
      operation.inputs[i] = *argument;
    }
    return !removes_axes || names_axes;
  }

  // Returns the argument for pictures; nothing if it has none. With `is_begin`, a per-axis vector gets 0 for the row's
  // axis, otherwise 1.
  std::optional<OperandId> rewritten(OperandId id, ArgumentRole role, bool removes_axes, bool is_begin) {
    Dims values = *model_.at(id).ints();
    switch (role) {
      case ArgumentRole::kAxis:
        return builder_.int32(raised_axis(values[0].value()));
      case ArgumentRole::kAxes:
        for (Dim& axis : values) axis = Dim(raised_axis(axis.value()));
        if (removes_axes) values.emplace_back(kNewAxis);
        return builder_.int32_tensor(values);
      case ArgumentRole::kPerAxisPairs:
        values.insert(values.begin() + 2 * kNewAxis, 2, Dim(0));
        return builder_.int32_tensor(values, {static_cast<int64_t>(kHigh), 2});
      case ArgumentRole::kPerAxisVector:
        values.insert(values.begin() + kNewAxis, Dim(is_begin ? 0 : 1));
        return builder_.int32_tensor(values);
      case ArgumentRole::kPerAxisMask: {
        const int64_t mask = values[0].value(), low = mask & 3, high = mask >> kNewAxis;
        return builder_.int32(low | high << (kNewAxis + 1));
      }
      default:
        return std::nullopt;
    }
  }

  void append(Operation operation, const Operation& original) {
    for (OperandId& id : operation.outputs) {
      if (rank(id) != kLow) continue;
      Operand type = model_.at(id);
      type.dims = raised(type.dims);
      const OperandId picture = builder_.variable(std::move(type));
      pictures_.emplace(id, picture);
      id = picture;
    }
    model_.operations.push_back(std::move(operation));
    for (const OperandId id : original.outputs) {
      if (!is_raised(id)) continue;
      const OperandId shape = builder_.int32_tensor(model_.at(id).dims);
      model_.operations.push_back({OperationCode::RESHAPE, {pictures_.at(id), shape}, {id}, original.source});
    }
  }

  Model& model_;
  Builder builder_;
  std::unordered_map<OperandId, OperandId> pictures_;  // [N, C, 1, L] by [N, C, L]
};

}  // namespace

void raise_rank(Model& model) {
  RankRaiser(model).run();
}

}  // namespace nnapi_convert::nnapi
