// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/divide_by_axes.h"

#include <algorithm>
#include <set>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

using AxisSet = std::set<size_t>;

constexpr size_t kGatherIndexInput = 2;

class AxisDivider {
 public:
  AxisDivider(Model& model, const Operation& operation) : model_(model), builder_(model), operation_(operation) {}

  std::vector<Operation> run() {
    switch (operation_.code) {
      case OperationCode::TILE:
      case OperationCode::SLICE:
      case OperationCode::STRIDED_SLICE:
      case OperationCode::PAD:
      case OperationCode::PAD_V2:
      case OperationCode::MIRROR_PAD:
        divide_along_axes();
        break;
      case OperationCode::MEAN:
      case OperationCode::REDUCE_ALL:
      case OperationCode::REDUCE_ANY:
      case OperationCode::REDUCE_MAX:
      case OperationCode::REDUCE_MIN:
      case OperationCode::REDUCE_PROD:
      case OperationCode::REDUCE_SUM:
        divide_reduction();
        break;
      case OperationCode::GATHER:
        if (!gather_between()) flatten_indices();
        break;
      default:
        if (has_trait(operation_.code, OperationTrait::kElementwise)) repeat_operand();
    }
    return std::move(parts_);
  }

 private:
  const Dims& dims(OperandId id) const { return model_.at(id).dims; }
  const Dims* ints(size_t input) const { return model_.at(operation_.inputs[input]).ints(); }

  OperandId append(OperationCode code, std::vector<OperandId> inputs, Operand type, const Dims& result_dims) {
    type.dims = result_dims;
    const OperandId result = builder_.variable(std::move(type));
    parts_.push_back({code, std::move(inputs), {result}, operation_.source});
    return result;
  }

  static AxisSet first_half(const std::vector<size_t>& axes) {
    return {axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(axes.size() / 2)};
  }

  // Returns how many inputs, from the second on, hold numbers for each axis.
  size_t vector_count() const {
    if (operation_.code == OperationCode::SLICE) return 2;
    return operation_.code == OperationCode::STRIDED_SLICE ? 3 : 1;
  }

  bool is_padding() const { return has_trait(operation_.code, OperationTrait::kPads); }

  // Returns the number in the vector `input` that leaves an axis of this size as it is.
  Dim neutral(size_t input, const Dim& size) const {
    if (is_padding()) return Dim(0);
    if (operation_.code == OperationCode::TILE) return Dim(1);
    return input == 1 ? Dim(0) : input == 2 ? size : Dim(1);  // begin, size or end, stride
  }

  bool has_masks() const {
    if (operation_.code != OperationCode::STRIDED_SLICE) return false;
    for (size_t input = 4; input < operation_.inputs.size(); ++input) {
      if (ints(input) == nullptr || ints(input)->at(0) != Dim(0)) return true;
    }
    return false;
  }

  std::vector<size_t> worked_axes() const {
    const Dims& before = dims(operation_.inputs[0]);
    const size_t numbers = is_padding() ? 2 : 1;  // in a vector, for each axis
    std::vector<size_t> axes;
    for (size_t axis = 0; axis < before.size(); ++axis) {
      bool is_worked = false;
      for (size_t input = 1; input <= vector_count(); ++input) {
        for (size_t i = 0; i < numbers; ++i) {
          is_worked = is_worked || ints(input)->at(numbers * axis + i) != neutral(input, before[axis]);
        }
      }
      if (is_worked) axes.push_back(axis);
    }
    return axes;
  }

  // Returns the vector `input` with its numbers for these axes; for the other axes it has numbers that leave their
  // `sizes`.
  OperandId numbers_along(size_t input, const AxisSet& axes, const Dims& sizes) {
    const size_t numbers = is_padding() ? 2 : 1;
    Dims values = *ints(input);
    for (size_t i = 0; i < values.size(); ++i) {
      if (axes.count(i / numbers) == 0) values[i] = neutral(input, sizes[i / numbers]);
    }
    if (!is_padding()) return builder_.int32_tensor(values);
    return builder_.int32_tensor(values, {static_cast<int64_t>(sizes.size()), 2});
  }

  std::vector<OperandId> inputs_along(OperandId x, const AxisSet& axes) {
    std::vector<OperandId> inputs = operation_.inputs;
    inputs[0] = x;
    const Dims sizes = dims(x);
    for (size_t input = 1; input <= vector_count(); ++input) inputs[input] = numbers_along(input, axes, sizes);
    return inputs;
  }

  void divide_along_axes() {
    for (size_t input = 1; input <= vector_count(); ++input) {
      if (ints(input) == nullptr) return;
    }
    const std::vector<size_t> axes = worked_axes();
    if (axes.size() < 2 || has_masks()) return;
    const AxisSet first = first_half(axes);
    const OperandId x = operation_.inputs[0], output = operation_.outputs[0];
    Dims between = dims(x);
    for (const size_t axis : first) between[axis] = dims(output)[axis];
    const OperandId half = append(operation_.code, inputs_along(x, first), model_.at(output), between);
    const AxisSet rest(axes.begin() + static_cast<std::ptrdiff_t>(first.size()), axes.end());
    parts_.push_back({operation_.code, inputs_along(half, rest), {output}, operation_.source});
  }

  // Returns the reduced axes in runs of neighbours; each run is reduced together, as one axis.
  std::vector<std::vector<size_t>> reduced_runs() const {
    const auto rank = static_cast<int64_t>(dims(operation_.inputs[0]).size());
    AxisSet axes;
    for (const Dim& axis : *ints(1)) axes.insert(static_cast<size_t>((axis.value() + rank) % rank));
    std::vector<std::vector<size_t>> runs;
    for (const size_t axis : axes) {
      if (runs.empty() || runs.back().back() + 1 != axis) runs.emplace_back();
      runs.back().push_back(axis);
    }
    return runs;
  }

  OperandId reduced(OperandId x, const std::vector<std::vector<size_t>>& runs, size_t begin, size_t end) {
    Dims result_dims = dims(x), axes;
    for (size_t i = begin; i < end; ++i) {
      for (const size_t axis : runs[i]) {
        result_dims[axis] = Dim(1);
        axes.emplace_back(static_cast<int64_t>(axis));
      }
    }
    const OperandId keeps = operation_.code == OperationCode::MEAN ? builder_.int32(Dim(1)) : builder_.boolean(true);
    return append(operation_.code, {x, builder_.int32_tensor(axes), keeps}, model_.at(operation_.outputs[0]),
                  result_dims);
  }

  // Divides a reduction into two. Leaves quantised tensors, which would be rounded twice.
  void divide_reduction() {
    if (ints(1) == nullptr || is_quant8(model_.at(operation_.outputs[0]).type)) return;
    const std::vector<std::vector<size_t>> runs = reduced_runs();
    if (runs.size() < 2) return;
    const OperandId half = reduced(operation_.inputs[0], runs, 0, runs.size() / 2);
    append_result(reduced(half, runs, runs.size() / 2, runs.size()));
  }

  OperandId flat(OperandId id) {
    const Operand operand = model_.at(id);
    const Dims vector{product(operand.dims)};
    if (const Constant* constant = operand.constant())
      return builder_.tensor(constant->then(Reshape{fixed_values(vector)}));
    if (const Dims* numbers = operand.ints()) return builder_.int32_tensor(*numbers);
    return append(OperationCode::RESHAPE, {id, builder_.int32_tensor(vector)}, operand, vector);
  }

  // Merges the axes before and behind the one along which elements are picked; false if more than four are left.
  bool gather_between() {
    const OperandId x = operation_.inputs[0], indices = operation_.inputs[kGatherIndexInput];
    const Dims sizes = dims(x), places = dims(indices);
    if (ints(1) == nullptr || places.size() + 2 > kMaxMoveRank || !can_be_moved(model_.at(x).type)) return false;
    const auto rank = static_cast<int64_t>(sizes.size());
    const auto axis = sizes.begin() + (ints(1)->at(0).value() + rank) % rank;
    const Dim before = product(Dims(sizes.begin(), axis)), behind = product(Dims(axis + 1, sizes.end()));
    const Dims rows{before, *axis, behind};
    Dims picked{before};
    picked.insert(picked.end(), places.begin(), places.end());
    picked.push_back(behind);
    const OperandId around = append(OperationCode::RESHAPE, {x, builder_.int32_tensor(rows)}, model_.at(x), rows);
    append_result(append(OperationCode::GATHER, {around, builder_.int32(Dim(1)), indices}, model_.at(x), picked));
    return true;
  }

  // Appends a RESHAPE of the operand to the operation's result.
  void append_result(OperandId id) {
    const OperandId output = operation_.outputs[0];
    const OperandId shape = builder_.int32_tensor(dims(output));
    parts_.push_back({OperationCode::RESHAPE, {id, shape}, {output}, operation_.source});
  }

  void flatten_indices() {
    const OperandId indices = operation_.inputs[kGatherIndexInput];
    const Dims* axis_number = ints(1);
    if (dims(indices).size() == 1 || axis_number == nullptr) return;
    Dims picked = dims(operation_.inputs[0]);
    const auto rank = static_cast<int64_t>(picked.size());
    picked[static_cast<size_t>((axis_number->at(0).value() + rank) % rank)] = product(dims(indices));
    const OperandId vector = flat(indices);
    append_result(append(OperationCode::GATHER, {operation_.inputs[0], operation_.inputs[1], vector},
                         model_.at(operation_.outputs[0]), picked));
  }

  Dims with_all_axes(Dims sizes) const {
    const size_t rank = dims(operation_.outputs[0]).size();
    sizes.insert(sizes.begin(), rank - sizes.size(), Dim(1));
    return sizes;
  }

  // Returns whether TILE can give the operand the result's size; TILE takes no bool.
  bool can_be_repeated(OperandId id) const {
    const Operand& operand = model_.at(id);
    if (!is_tensor(operand.type) || operand.type == OperandCode::TENSOR_BOOL8 || operand.ints() != nullptr)
      return false;
    return product(operand.dims) != Dim(1) && with_all_axes(operand.dims) != dims(operation_.outputs[0]);
  }

  void repeat_operand() {
    const auto found = std::find_if(operation_.inputs.begin(), operation_.inputs.end(),
                                    [this](OperandId id) { return can_be_repeated(id); });
    if (found == operation_.inputs.end()) return;
    const Operand operand = model_.at(*found);
    const Dims own = with_all_axes(operand.dims), wanted = dims(operation_.outputs[0]);
    OperandId full = *found;
    if (const Constant* constant = operand.constant()) {
      full = builder_.tensor(constant->then(Reshape{fixed_values(own)}), operand.scale, operand.zero_point);
    } else if (own != operand.dims) {
      full = append(OperationCode::RESHAPE, {full, builder_.int32_tensor(own)}, operand, own);
    }
    Dims multiples;
    for (size_t i = 0; i < own.size(); ++i) multiples.push_back(own[i] == Dim(1) ? wanted[i] : Dim(1));
    full = append(OperationCode::TILE, {full, builder_.int32_tensor(multiples)}, operand, wanted);
    Operation result = operation_;
    std::replace(result.inputs.begin(), result.inputs.end(), *found, full);
    parts_.push_back(std::move(result));
  }

  Model& model_;
  Builder builder_;
  const Operation& operation_;
  std::vector<Operation> parts_;
};

}  // namespace

std::vector<Operation> divided_by_axes(Model& model, const Operation& operation) {
  return AxisDivider(model, operation).run();
}

}  // namespace nnapi_convert::nnapi
