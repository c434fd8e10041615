// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/flatten_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/merge_moves.h"

namespace nnapi_convert::nnapi {
namespace {

// True for the dtypes that RESHAPE takes at every feature level.
bool can_be_reshaped(OperandCode type) {
  return type == OperandCode::TENSOR_FLOAT32 || is_quant8(type);
}

Dims rows_of(const Dims& dims) {
  return {dims.begin(), dims.end() - 1};
}

Dims flat(const Dims& dims) {
  return {product(rows_of(dims)), dims.back()};
}

// Finds the operations that work on each row by itself, and changes their arguments to those for matrices.
class RowOperations {
 public:
  explicit RowOperations(Model& model) : model_(model), builder_(model) {}

  // True for a tensor that a region may hold.
  bool has_rows(OperandId id) const {
    const Operand& operand = model_.at(id);
    return !operand.is_constant() && operand.dims.size() > 2 && can_be_reshaped(operand.type);
  }

  bool works_on_rows(const Operation& operation) const {
    if (operation.outputs.empty() || !std::all_of(operation.outputs.begin(), operation.outputs.end(),
                                                  [this](OperandId id) { return has_rows(id); })) {
      return false;
    }
    if (has_trait(operation.code, OperationTrait::kElementwise)) return are_arguments_of_rows(operation);
    switch (operation.code) {
      case OperationCode::MEAN:
      case OperationCode::REDUCE_MAX:
      case OperationCode::REDUCE_MIN:
      case OperationCode::REDUCE_SUM:
        return has_rows(operation.inputs[0]) && names_last_axis(operation, 1) && keeps_rank(operation);
      case OperationCode::SOFTMAX:
        return has_rows(operation.inputs[0]) && operation.inputs.size() == 3 && names_last_axis(operation, 2);
      default:
        return false;
    }
  }

  // Changes the arguments that are no tensors of rows (axes, constants) to those for matrices. Call it before the
  // tensors are replaced.
  void set_arguments(Operation& operation) {
    const Dims dims = model_.at(operation.outputs[0]).dims;
    if (operation.code == OperationCode::SOFTMAX) return operation.inputs.resize(2);
    if (!has_trait(operation.code, OperationTrait::kElementwise)) {
      operation.inputs[1] = builder_.int32_tensor({Dim(1)});
      return;
    }
    for (OperandId& id : operation.inputs) {
      const Operand operand = model_.at(id);
      if (operand.constant() == nullptr) continue;
      const auto shape = flat_shape(*operand.constant(), dims);
      if (*shape == operand.constant()->shape()) continue;
      id = builder_.tensor(operand.constant()->then(Reshape{*shape}), operand.scale, operand.zero_point);
    }
  }

 private:
  // Returns the shape that broadcasts with a matrix as the constant does with its rows; nothing if there is none.
  static std::optional<std::vector<int64_t>> flat_shape(const Constant& constant, const Dims& dims) {
    std::vector<int64_t> shape = constant.shape();
    if (constant.element_count() == 1) return std::vector<int64_t>{1};
    if (shape.size() > dims.size()) return std::nullopt;
    shape.insert(shape.begin(), dims.size() - shape.size(), 1);
    const Dims leading = rows_of(to_dims(shape));
    if (product(leading) == Dim(1)) return std::vector<int64_t>{shape.back()};
    if (leading != rows_of(dims)) return std::nullopt;
    return std::vector<int64_t>{product(leading).value(), shape.back()};
  }

  bool are_arguments_of_rows(const Operation& operation) const {
    const Dims& dims = model_.at(operation.outputs[0]).dims;
    return std::all_of(operation.inputs.begin(), operation.inputs.end(), [&](OperandId id) {
      const Operand& operand = model_.at(id);
      if (const Constant* constant = operand.constant()) return flat_shape(*constant, dims).has_value();
      if (operand.is_constant()) return true;  // a scalar
      return has_rows(id) && operand.dims.size() == dims.size() && rows_of(operand.dims) == rows_of(dims);
    });
  }

  bool names_last_axis(const Operation& operation, size_t argument) const {
    const Dims* axes = model_.at(operation.inputs[argument]).ints();
    const auto rank = static_cast<int64_t>(model_.at(operation.inputs[0]).dims.size());
    return axes != nullptr && axes->size() == 1 && ((*axes)[0] == Dim(rank - 1) || (*axes)[0] == Dim(-1));
  }

  bool keeps_rank(const Operation& operation) const {
    return model_.at(operation.outputs[0]).dims.size() == model_.at(operation.inputs[0]).dims.size();
  }

  Model& model_;
  Builder builder_;
};

// Sets of tensors that operations on rows connect. Counts how many operations fewer the model has if a set becomes
// matrices.
class Regions {
 public:
  Regions(const Model& model, const RowOperations& rows) : model_(model), parent_(model.operands.size()) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    is_inside_.assign(model.operations.size(), false);
    std::vector<bool> is_member(model.operands.size(), false);
    for (size_t i = 0; i < model.operations.size(); ++i) {
      const Operation& operation = model.operations[i];
      is_inside_[i] = rows.works_on_rows(operation);
      if (!is_inside_[i]) continue;
      for (const auto* ids : {&operation.inputs, &operation.outputs}) {
        for (const OperandId id : *ids) {
          if (!rows.has_rows(id)) continue;
          is_member[static_cast<size_t>(id)] = true;
          parent_[root(id)] = root(operation.outputs[0]);
        }
      }
    }
    count(is_member);
  }

  bool is_inside(size_t operation) const { return is_inside_[operation]; }
  bool is_worth(OperandId id) {
    const auto found = saved_.find(root(id));
    return found != saved_.end() && found->second > 0;
  }

 private:
  size_t root(OperandId id) {
    auto at = static_cast<size_t>(id);
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  // Counts the RESHAPEs at the regions' borders: one that is there stays or vanishes, and every other border needs a
  // new one.
  void count(const std::vector<bool>& is_member) {
    std::vector<bool> needs_axes(model_.operands.size(), false);  // read by an operation outside
    std::vector<bool> is_made(model_.operands.size(), false);
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation& operation = model_.operations[i];
      for (const OperandId id : operation.outputs) is_made[static_cast<size_t>(id)] = true;
      if (is_inside_[i]) continue;
      const bool is_reshape = operation.code == OperationCode::RESHAPE;
      for (const OperandId id : operation.inputs) {
        if (!is_member[static_cast<size_t>(id)]) continue;
        const bool is_free = is_reshape || operation.code == OperationCode::FULLY_CONNECTED;
        if (is_reshape && model_.at(operation.outputs[0]).dims == flat(model_.at(id).dims)) ++saved_[root(id)];
        if (!is_free) needs_axes[static_cast<size_t>(id)] = true;
      }
      for (const OperandId id : operation.outputs) {
        if (!is_member[static_cast<size_t>(id)]) continue;
        if (!is_reshape) --saved_[root(id)];
        if (is_reshape && model_.at(operation.inputs[0]).dims == flat(model_.at(id).dims)) ++saved_[root(id)];
      }
    }
    for (const Boundary& output : model_.outputs) needs_axes[static_cast<size_t>(output.operand)] = true;
    for (size_t id = 0; id < is_member.size(); ++id) {
      if (is_member[id] && needs_axes[id]) --saved_[root(static_cast<OperandId>(id))];
      if (is_member[id] && !is_made[id]) --saved_[root(static_cast<OperandId>(id))];  // an input of the model
    }
  }

  const Model& model_;
  std::vector<size_t> parent_;
  std::vector<bool> is_inside_;  // by operation: it works on rows
  std::map<size_t, int> saved_;  // by root: operations saved
};

class Flattening {
 public:
  Flattening(Model& model, RowOperations& rows, Regions& regions)
      : model_(model), builder_(model), rows_(rows), regions_(regions) {}

  void run() {
    const std::vector<Operation> operations = std::move(model_.operations);
    model_.operations.clear();
    has_axes_.assign(model_.operands.size(), true);
    const std::vector<bool> is_inside = inside(operations);
    for (size_t i = 0; i < operations.size(); ++i) {
      if (!is_inside[i]) continue;
      for (const OperandId id : operations[i].outputs) has_axes_[static_cast<size_t>(id)] = false;
    }
    for (size_t i = 0; i < operations.size(); ++i) {
      builder_.set_source(operations[i].source);
      is_inside[i] ? place_inside(operations[i]) : place_outside(operations[i]);
    }
    for (const Boundary& output : model_.outputs) give_axes(output.operand);
  }

 private:
  std::vector<bool> inside(const std::vector<Operation>& operations) const {
    std::vector<bool> result;
    for (size_t i = 0; i < operations.size(); ++i) {
      result.push_back(regions_.is_inside(i) && regions_.is_worth(operations[i].outputs[0]));
    }
    return result;
  }

  // Returns the matrix that stands for the tensor.
  OperandId matrix(OperandId id) {
    const auto [found, is_new] = matrices_.try_emplace(id, -1);
    if (!is_new) return found->second;
    Operand type = model_.at(id);
    type.dims = flat(type.dims);
    found->second = has_axes_[static_cast<size_t>(id)] ? reshaped(id, type) : builder_.variable(type);
    return found->second;
  }

  OperandId reshaped(OperandId id, const Operand& type) {
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(type.dims)}, type);
  }

  // Makes the tensor with its own axes if only its matrix exists.
  void give_axes(OperandId id) {
    if (has_axes_[static_cast<size_t>(id)]) return;
    has_axes_[static_cast<size_t>(id)] = true;
    const OperandId shape = builder_.int32_tensor(model_.at(id).dims);
    model_.operations.push_back({OperationCode::RESHAPE, {matrices_.at(id), shape}, {id}, ""});
  }

  void place_inside(Operation operation) {
    rows_.set_arguments(operation);
    for (OperandId& id : operation.inputs) {
      if (static_cast<size_t>(id) < has_axes_.size() && rows_.has_rows(id)) id = matrix(id);
    }
    for (OperandId& id : operation.outputs) id = matrix(id);
    model_.operations.push_back(std::move(operation));
  }

  void place_outside(const Operation& operation) {
    for (const OperandId id : operation.inputs) {
      if (static_cast<size_t>(id) < has_axes_.size()) give_axes(id);
    }
    model_.operations.push_back(operation);
  }

  Model& model_;
  Builder builder_;
  RowOperations& rows_;
  Regions& regions_;
  std::vector<bool> has_axes_;  // by operand of the original model: it exists with its own axes
  std::map<OperandId, OperandId> matrices_;
};

}  // namespace

void flatten_rows(Model& model) {
  RowOperations rows(model);
  Regions regions(model, rows);
  const bool any = [&] {
    for (size_t i = 0; i < model.operations.size(); ++i) {
      if (regions.is_inside(i) && regions.is_worth(model.operations[i].outputs[0])) return true;
    }
    return false;
  }();
  if (!any) return;
  Flattening(model, rows, regions).run();
  merge_moves(model);
}

}  // namespace nnapi_convert::nnapi
