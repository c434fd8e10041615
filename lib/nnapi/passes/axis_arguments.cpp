// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/axis_arguments.h"

#include <algorithm>

#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

// Returns the position in NHWC of an axis of NCHW.
int64_t nhwc_axis(int64_t axis) {
  const int64_t position = axis < 0 ? axis + 4 : axis;
  return inverse(kToNhwc)[static_cast<size_t>(position)];
}

// Returns [4, 2] values, a pair per axis, in NHWC order.
Dims permuted_pairs(const Dims& pairs) {
  Dims result;
  for (const int64_t axis : kToNhwc) {
    result.push_back(pairs[static_cast<size_t>(2 * axis)]);
    result.push_back(pairs[static_cast<size_t>(2 * axis + 1)]);
  }
  return result;
}

int64_t permuted_mask(int64_t mask) {
  int64_t result = 0;
  for (size_t i = 0; i < kToNhwc.size(); ++i) {
    if ((mask >> kToNhwc[i]) & 1) result |= int64_t{1} << i;
  }
  return result;
}

OperandId rewritten(Builder& builder, OperandId id, ArgumentRole role) {
  const Dims values = *builder.model().at(id).ints();
  switch (role) {
    case ArgumentRole::kAxis:
      return builder.int32(nhwc_axis(values[0].value()));
    case ArgumentRole::kPerAxisMask:
      return builder.int32(permuted_mask(values[0].value()));
    case ArgumentRole::kAxes: {
      Dims axes;
      for (const Dim& axis : values) axes.emplace_back(nhwc_axis(axis.value()));
      std::sort(axes.begin(), axes.end());
      return builder.int32_tensor(axes);
    }
    case ArgumentRole::kPerAxisPairs:
      return builder.int32_tensor(permuted_pairs(values), {4, 2});
    case ArgumentRole::kPerAxisVector:
    case ArgumentRole::kShape:
      return builder.int32_tensor(permute(values, kToNhwc));
    default:
      return id;
  }
}

bool is_rewritable(ArgumentRole role) {
  return role == ArgumentRole::kAxis || role == ArgumentRole::kAxes || role == ArgumentRole::kPerAxisVector ||
         role == ArgumentRole::kPerAxisPairs || role == ArgumentRole::kPerAxisMask || role == ArgumentRole::kShape;
}

}  // namespace

AxisArguments::AxisArguments(const SignatureInfo& signature, const Operation& operation) {
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    const ArgumentInfo& argument = argument_of_input(signature, i, operation.inputs.size());
    if (argument.role == ArgumentRole::kLayout) {
      layout_flag_ = static_cast<int>(i);
      layout_flag_is_optional_ = argument.optional;
    } else if (is_rewritable(argument.role)) {
      rewritable_.push_back({i, argument.role});
    }
  }
}

bool AxisArguments::are_constant(const Model& model, const Operation& operation) const {
  return std::all_of(rewritable_.begin(), rewritable_.end(), [&](const Position& position) {
    return model.at(operation.inputs[position.index]).ints() != nullptr;
  });
}

std::vector<int64_t> AxisArguments::named_axes(const Model& model, const Operation& operation) const {
  std::vector<int64_t> axes;
  for (const Position& position : rewritable_) {
    if (position.role != ArgumentRole::kAxis && position.role != ArgumentRole::kAxes) continue;
    for (const Dim& axis : *model.at(operation.inputs[position.index]).ints()) {
      axes.push_back(axis.value() < 0 ? axis.value() + 4 : axis.value());
    }
  }
  return axes;
}

void AxisArguments::rewrite_for_nhwc(Builder& builder, Operation& operation) const {
  for (const Position& position : rewritable_) {
    OperandId& id = operation.inputs[position.index];
    id = rewritten(builder, id, position.role);
  }
}

}  // namespace nnapi_convert::nnapi
