// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/moves.h"

#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

// Axes before a RESHAPE that together become one axis behind it: from `first` up to, but without, `last`.
struct AxisRange {
  size_t first, last;
};

std::optional<AxisRange> axes_before(const Dims& dims_before, const Dims& dims_after, size_t axis) {
  for (size_t first = 0; first < dims_before.size(); ++first) {
    Dim size(1);
    for (size_t last = first; last < dims_before.size(); ++last) {
      size *= dims_before[last];
      if (size == dims_after[axis] && product_after(dims_before, last) == product_after(dims_after, axis)) {
        return AxisRange{first, last + 1};
      }
    }
  }
  return std::nullopt;
}

// Returns the shape of a constant that broadcasts before a RESHAPE as the shape `after` does behind it, if any.
std::optional<std::vector<int64_t>> shape_before(const std::vector<int64_t>& after, const Dims& dims_before,
                                                 const Dims& dims_after) {
  std::vector<int64_t> before(dims_before.size(), 1);
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] == 1) continue;
    const auto range = axes_before(dims_before, dims_after, i);
    if (!range || Dim(after[i]) != dims_after[i]) return std::nullopt;
    for (size_t axis = range->first; axis < range->last; ++axis) {
      if (!dims_before[axis].is_fixed()) return std::nullopt;
      before[axis] = dims_before[axis].value();
    }
  }
  return before;
}

}  // namespace

bool is_move(const Model& model, const Operation& operation) {
  if (operation.code == OperationCode::RESHAPE) return true;
  const bool is_transpose = operation.code == OperationCode::TRANSPOSE && operation.inputs.size() == 2;
  return is_transpose && model.at(operation.inputs[1]).ints() != nullptr;
}

std::vector<int64_t> order_of(const Model& model, const Operation& move) {
  if (move.code == OperationCode::RESHAPE) return {};
  return fixed_values(*model.at(move.inputs[1]).ints());
}

bool are_alike(const Model& model, const Operation& a, const Operation& b) {
  return a.code == b.code && model.at(a.inputs[0]).dims == model.at(b.inputs[0]).dims &&
         model.at(a.outputs[0]).dims == model.at(b.outputs[0]).dims && order_of(model, a) == order_of(model, b);
}

bool keeps_sequence(const Dims& dims, const std::vector<int64_t>& order) {
  int64_t last = -1;
  for (const int64_t axis : order) {
    if (dims[static_cast<size_t>(axis)] == Dim(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool can_be_moved(OperandCode type) {
  return type == OperandCode::TENSOR_FLOAT32 || is_quant8(type);
}

Dim product_after(const Dims& dims, size_t axis) {
  return product(Dims(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims.end()));
}

std::optional<OperandId> before_move(Builder& builder, OperandId id, const Operation& move) {
  const Model& model = builder.model();
  const Operand operand = model.at(id);
  const Constant* constant = operand.constant();
  if (constant == nullptr) return id;
  const Dims before = model.at(move.inputs[0]).dims;
  if (constant->element_count() == 1) {
    if (constant->shape().size() <= before.size()) return id;
    return builder.tensor(constant->then(Reshape{{1}}), operand.scale, operand.zero_point);
  }
  const Dims after = model.at(move.outputs[0]).dims;
  std::vector<int64_t> shape = constant->shape();
  if (shape.size() > after.size()) return std::nullopt;
  shape.insert(shape.begin(), after.size() - shape.size(), 1);
  if (move.code == OperationCode::TRANSPOSE) {
    const Constant full = constant->then(Reshape{shape}).then(Permute{inverse(order_of(model, move))});
    return builder.tensor(full, operand.scale, operand.zero_point);
  }
  const auto new_shape = shape_before(shape, before, after);
  if (!new_shape) return std::nullopt;
  return builder.tensor(constant->then(Reshape{*new_shape}), operand.scale, operand.zero_point);
}

}  // namespace nnapi_convert::nnapi
