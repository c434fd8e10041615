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

bool is_along_axes(OperationCode code) {
  switch (code) {
    case OperationCode::CONCATENATION:
    case OperationCode::SOFTMAX:
    case OperationCode::LOG_SOFTMAX:
    case OperationCode::MEAN:
    case OperationCode::REDUCE_SUM:
    case OperationCode::REDUCE_MAX:
    case OperationCode::REDUCE_MIN:
    case OperationCode::REDUCE_PROD:
    case OperationCode::ARGMAX:
    case OperationCode::ARGMIN:
    case OperationCode::REDUCE_ANY:
    case OperationCode::REDUCE_ALL:
    case OperationCode::PAD:
    case OperationCode::PAD_V2:
    case OperationCode::SLICE:
    case OperationCode::STRIDED_SLICE:
    case OperationCode::SPLIT:
    case OperationCode::CHANNEL_SHUFFLE:
    case OperationCode::TILE:
    case OperationCode::GATHER:
    case OperationCode::MIRROR_PAD:
    case OperationCode::REVERSE:
    case OperationCode::L2_NORMALIZATION:
    case OperationCode::LOCAL_RESPONSE_NORMALIZATION:
      return true;
    default:
      return false;
  }
}

}  // namespace nnapi_convert::nnapi
