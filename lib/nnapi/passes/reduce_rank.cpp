// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/reduce_rank.h"

#include <algorithm>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/divide_by_axes.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr size_t kGatherIndices = 2;
constexpr size_t kLastAxis = kMaxMoveRank - 1;  // at the model's boundary, all axes from this one on are merged

bool moves_only(OperationCode code) {
  return has_trait(code, OperationTrait::kViews);
}

// Returns the operation's signature with this number of inputs, whatever the ranks.
const SignatureInfo* signature_of(const Operation& operation) {
  for (const SignatureInfo& signature : find_operation(operation.code)->signatures) {
    const auto& inputs = signature.inputs;
    const bool is_variadic =
        std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.variadic; });
    if (is_variadic ? operation.inputs.size() >= inputs.size() : operation.inputs.size() == inputs.size()) {
      return &signature;
    }
  }
  return nullptr;
}

// Adds leading axes of size 1 up to `rank`.
Dims with_rank(Dims dims, size_t rank) {
  dims.insert(dims.begin(), rank - dims.size(), Dim(1));
  return dims;
}

class RankReducer {
 public:
  explicit RankReducer(Model& model) : model_(model), builder_(model) {}

  void run() {
    const std::vector<Operation> operations = std::move(model_.operations);
    model_.operations.clear();
    for (const Operation& operation : operations) {
      builder_.set_source(operation.source);
      place(operation);
    }
  }

 private:
  struct Argument {
    size_t input;
    ArgumentRole role;
  };

  // The changes to one operation.
  struct Plan {
    size_t rank = 0;
    std::vector<size_t> tensors;      // inputs that are tensors with axes
    std::vector<Argument> arguments;  // inputs that name axes
    std::vector<int64_t> removed;     // axes that the outputs lack
    std::vector<int> kind;            // by axis: neighbours of equal kind may be merged
    std::vector<std::vector<size_t>> groups;
  };

  size_t rank(OperandId id) const { return model_.at(id).dims.size(); }

  bool is_high(const Operation& operation) const {
    const auto has_high_rank = [this](OperandId id) { return rank(id) > kMaxMoveRank; };
    return std::any_of(operation.inputs.begin(), operation.inputs.end(), has_high_rank) ||
           std::any_of(operation.outputs.begin(), operation.outputs.end(), has_high_rank);
  }

  // Appends the operation with fewer axes, or in parts that have fewer, or as it is. The recursion ends, as each part
  // has fewer axes that have to stand alone than the operation.
  void place(const Operation& operation) {
    if (!is_high(operation)) return model_.operations.push_back(operation);
    if (moves_only(operation.code)) return model_.operations.push_back(as_move(operation));
    if (reduce(operation)) return;
    const std::vector<Operation> parts = divided_by_axes(model_, operation);
    if (parts.empty()) model_.operations.push_back(operation);
    for (const Operation& part : parts) place(part);
  }

  // Returns SQUEEZE and EXPAND_DIMS as a RESHAPE, which merge_moves can merge with others; a RESHAPE or TRANSPOSE as it
  // is.
  Operation as_move(const Operation& operation) {
    if (operation.code == OperationCode::RESHAPE || operation.code == OperationCode::TRANSPOSE) return operation;
    const OperandId shape = builder_.int32_tensor(model_.at(operation.outputs[0]).dims);
    return {OperationCode::RESHAPE, {operation.inputs[0], shape}, operation.outputs, operation.source};
  }

  bool reduce(const Operation& operation) {
    Plan plan;
    if (!read(operation, plan)) return false;
    merge_axes(operation, plan);
    if (plan.groups.size() > kMaxMoveRank) return false;
    if (has_fixed_order(operation)) keep_boundary_axes(plan);
    write(operation, plan);
    return true;
  }

  // True if the operation reads or gives a tensor that RESHAPE doesn't take at all feature levels.
  bool has_fixed_order(const Operation& operation) const {
    const auto is_fixed = [this](OperandId id) {
      const Operand& operand = model_.at(id);
      return !operand.is_constant() && operand.dims.size() > kMaxMoveRank && !can_be_moved(operand.type);
    };
    return std::any_of(operation.inputs.begin(), operation.inputs.end(), is_fixed) ||
           std::any_of(operation.outputs.begin(), operation.outputs.end(), is_fixed);
  }

  // Merges only the axes that are merged at the model's inputs and outputs, if the operation treats these alike: then
  // they need no RESHAPE.
  static void keep_boundary_axes(Plan& plan) {
    const bool are_one_group = plan.groups.back().front() <= kLastAxis;
    if (plan.rank <= kMaxMoveRank || !are_one_group) return;
    plan.groups.clear();
    for (size_t axis = 0; axis < plan.rank; ++axis) {
      if (axis <= kLastAxis) plan.groups.emplace_back();
      plan.groups.back().push_back(axis);
    }
  }

  bool read(const Operation& operation, Plan& plan) const {
    const SignatureInfo* signature = signature_of(operation);
    if (signature == nullptr) return false;
    size_t variadic = operation.inputs.size() - signature->inputs.size() + 1;
    size_t input = 0;
    for (const ArgumentInfo& argument : signature->inputs) {
      for (size_t n = argument.variadic ? variadic : 1; n > 0; --n, ++input) {
        const Operand& operand = model_.at(operation.inputs[input]);
        if (operation.code == OperationCode::GATHER && input == kGatherIndices) {
          if (operand.dims.size() != 1) return false;  // the indices' axes become axes of the result
          continue;
        }
        if (argument.role == ArgumentRole::kLayout || argument.role == ArgumentRole::kPerm) return false;
        if (argument.role != ArgumentRole::kNone && argument.role != ArgumentRole::kActivation) {
          if (operand.ints() == nullptr) return false;
          plan.arguments.push_back({input, argument.role});
        } else if (is_tensor(operand.type)) {
          plan.tensors.push_back(input);
          plan.rank = std::max(plan.rank, operand.dims.size());
        }
      }
    }
    return !plan.tensors.empty();
  }

  std::vector<int64_t> named_axes(const Operation& operation, const Plan& plan) const {
    std::vector<int64_t> axes;
    if (operation.code == OperationCode::TOPK_V2) axes.push_back(static_cast<int64_t>(plan.rank) - 1);  // the last axis
    for (const Argument& argument : plan.arguments) {
      if (argument.role != ArgumentRole::kAxis && argument.role != ArgumentRole::kAxes) continue;
      for (const Dim& axis : *model_.at(operation.inputs[argument.input]).ints()) {
        axes.push_back(axis.value() < 0 ? axis.value() + static_cast<int64_t>(plan.rank) : axis.value());
      }
    }
    return axes;
  }

  // Groups neighbouring axes of one kind. Axes of one kind agree in whether they are named, which inputs have size 1
  // there, and whether the operation changes their size or order.
  void merge_axes(const Operation& operation, Plan& plan) const {
    if (operation.code == OperationCode::TILE) return merge_tiled_axes(operation, plan);
    const std::vector<int64_t> named = named_axes(operation, plan);
    const bool reduces = rank(operation.outputs[0]) < plan.rank;
    if (reduces) plan.removed = named;
    const Dims first = with_rank(model_.at(operation.inputs[plan.tensors[0]]).dims, plan.rank);
    const Dims output = reduces ? first : model_.at(operation.outputs[0]).dims;
    const bool merges_named = std::any_of(plan.arguments.begin(), plan.arguments.end(), [](const Argument& argument) {
      return argument.role == ArgumentRole::kAxes;
    });
    bool ones_only = false;  // the last group's axes have size 1, whichever kind they join
    for (size_t axis = 0; axis < plan.rank; ++axis) {
      const bool is_named = std::count(named.begin(), named.end(), static_cast<int64_t>(axis)) != 0;
      const bool stands_alone = (is_named && !merges_named) || is_touched(operation, plan, axis, first, output);
      int kind = stands_alone ? -1 - static_cast<int>(axis) : static_cast<int>(is_named);
      for (size_t i = 0; i < plan.tensors.size() && !stands_alone; ++i) {
        const Dims dims = with_rank(model_.at(operation.inputs[plan.tensors[i]]).dims, plan.rank);
        if (dims[axis] == Dim(1) && output[axis] != Dim(1)) kind |= 2 << i;
      }
      const bool is_one = plan.arguments.empty() && kind == 0 && output[axis] == Dim(1);
      const int before = axis == 0 ? -1 : plan.kind[axis - 1];
      const bool joins = axis > 0 && (kind == before || (before >= 0 && is_one) || (kind >= 0 && ones_only));
      plan.kind.push_back(joins && is_one ? before : kind);
      ones_only = is_one && (!joins || ones_only);
      if (joins) {
        plan.groups.back().push_back(axis);
      } else {
        plan.groups.push_back({axis});
      }
    }
  }

  // Groups the axes of a TILE. An axis that isn't repeated joins the one before it. Any axis joins preceding axes of
  // size 1: repeating those repeats it as a whole.
  void merge_tiled_axes(const Operation& operation, Plan& plan) const {
    const Dims& sizes = model_.at(operation.inputs[0]).dims;
    const Dims& multiples = *model_.at(operation.inputs[1]).ints();
    bool are_ones = true;  // the last group's axes have size 1
    for (size_t axis = 0; axis < plan.rank; ++axis) {
      if (plan.groups.empty() || !(are_ones || multiples[axis] == Dim(1))) {
        plan.groups.emplace_back();
        are_ones = true;
      }
      plan.groups.back().push_back(axis);
      are_ones = are_ones && sizes[axis] == Dim(1);
    }
  }

  // Returns true if a per-axis argument has an effect at the axis.
  bool is_touched(const Operation& operation, const Plan& plan, size_t axis, const Dims& first,
                  const Dims& output) const {
    for (const Argument& argument : plan.arguments) {
      const Dims& values = *model_.at(operation.inputs[argument.input]).ints();
      if (argument.role == ArgumentRole::kPerAxisPairs) {
        if (values[2 * axis] != Dim(0) || values[2 * axis + 1] != Dim(0)) return true;
      } else if (argument.role == ArgumentRole::kPerAxisMask) {
        if ((values[0].value() >> axis) & 1) return true;
      } else if (argument.role == ArgumentRole::kPerAxisVector) {
        const bool is_plain = values[axis] == Dim(0) || values[axis] == Dim(1) || values[axis] == first[axis];
        if (!is_plain || first[axis] != output[axis]) return true;
      }
    }
    return false;
  }

  static Dim product_of(const Dims& dims, const std::vector<size_t>& axes) {
    Dim size(1);
    for (const size_t axis : axes) size *= dims[axis];
    return size;
  }

  static Dims merged_dims(const Plan& plan, const Dims& dims) {
    Dims result;
    for (const auto& group : plan.groups) result.push_back(product_of(dims, group));
    return result;
  }

  // Returns the merged sizes of an output, which may lack the removed axes.
  Dims merged_output(const Plan& plan, const Dims& first, const Dims& output) const {
    if (output.size() == plan.rank) return merged_dims(plan, output);
    Dims result;
    for (const auto& group : plan.groups) {
      if (std::count(plan.removed.begin(), plan.removed.end(), static_cast<int64_t>(group[0])) == 0) {
        result.push_back(product_of(first, group));
      }
    }
    if (result.empty()) result.emplace_back(1);
    return result;
  }

  OperandId reshaped(OperandId id, const Dims& dims) {
    Operand result = model_.at(id);
    if (result.dims == dims) return id;
    if (const Constant* constant = result.constant()) {
      return builder_.tensor(constant->then(Reshape{fixed_values(dims)}), result.scale, result.zero_point);
    }
    result.dims = dims;
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(dims)}, result);
  }

  OperandId rewritten(const Plan& plan, OperandId id, ArgumentRole role, const Dims& first, bool is_tile) {
    const Dims values = *model_.at(id).ints();
    if (is_tile) return builder_.int32_tensor(merged_dims(plan, values));
    Dims result;
    for (size_t g = 0; g < plan.groups.size(); ++g) {
      const auto& group = plan.groups[g];
      const auto contains = [&](const Dim& axis) {
        const int64_t position = axis.value() < 0 ? axis.value() + static_cast<int64_t>(plan.rank) : axis.value();
        return std::count(group.begin(), group.end(), static_cast<size_t>(position)) != 0;
      };
      if (role == ArgumentRole::kAxis || role == ArgumentRole::kAxes) {
        if (std::any_of(values.begin(), values.end(), contains)) result.emplace_back(static_cast<int64_t>(g));
      } else if (role == ArgumentRole::kPerAxisPairs) {
        result.insert(result.end(), {values[2 * group[0]], values[2 * group[0] + 1]});
      } else if (group.size() == 1) {
        result.push_back(values[group[0]]);
      } else {
        const bool is_size = std::any_of(group.begin(), group.end(), [&](size_t axis) {
          return values[axis] == first[axis] && first[axis] != Dim(1);
        });
        result.push_back(is_size ? product_of(first, group) : values[group[0]]);
      }
    }
    if (role == ArgumentRole::kAxis) return builder_.int32(result[0]);
    if (role != ArgumentRole::kPerAxisPairs) return builder_.int32_tensor(result);
    return builder_.int32_tensor(result, {static_cast<int64_t>(plan.groups.size()), 2});
  }

  OperandId rewritten_mask(const Plan& plan, OperandId id) {
    const int64_t mask = model_.at(id).ints()->at(0).value();
    int64_t result = 0;
    for (size_t g = 0; g < plan.groups.size(); ++g) {
      if ((mask >> plan.groups[g][0]) & 1) result |= int64_t{1} << g;
    }
    return builder_.int32(result);
  }

  void write(const Operation& operation, const Plan& plan) {
    const Dims first = with_rank(model_.at(operation.inputs[plan.tensors[0]]).dims, plan.rank);
    const bool is_tile = operation.code == OperationCode::TILE;
    Operation result = operation;
    for (const size_t input : plan.tensors) {
      const Dims dims = model_.at(operation.inputs[input]).dims;
      const bool is_value = product(dims) == Dim(1) && dims.size() <= plan.groups.size();  // broadcasts as it is
      if (is_value) continue;
      result.inputs[input] = reshaped(result.inputs[input], merged_dims(plan, with_rank(dims, plan.rank)));
    }
    for (const Argument& argument : plan.arguments) {
      OperandId& id = result.inputs[argument.input];
      id = argument.role == ArgumentRole::kPerAxisMask ? rewritten_mask(plan, id)
                                                       : rewritten(plan, id, argument.role, first, is_tile);
    }
    for (OperandId& id : result.outputs) {
      Operand merged = model_.at(id);
      merged.dims = merged_output(plan, first, merged.dims);
      id = builder_.variable(merged);
    }
    model_.operations.push_back(result);
    for (size_t i = 0; i < result.outputs.size(); ++i) {
      const OperandId shape = builder_.int32_tensor(model_.at(operation.outputs[i]).dims);
      model_.operations.push_back(
          {OperationCode::RESHAPE, {result.outputs[i], shape}, {operation.outputs[i]}, operation.source});
    }
  }

  Model& model_;
  Builder builder_;
};

}  // namespace

void reduce_rank(Model& model) {
  RankReducer(model).run();
}

}  // namespace nnapi_convert::nnapi
