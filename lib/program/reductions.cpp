// SPDX-License-Identifier: BSD-3-Clause
// Operators that make one number of many: sums, extremes, norms.
#include <algorithm>
#include <cmath>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/rows.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

struct Reduction {
  RowKind kind;
  bool keeps_axes;
  ScalarType from;  // elements are converted to this dtype first
  ScalarType to;    // the dtype of the result
  double order = 2;
  double correction = 0;
  bool gives_index = false;   // gives the index instead of the extreme
  Tensor* indices = nullptr;  // the indices are written here, too, if not null
};

double finished(const Reduction& reduction, const RowState& state, int64_t length) {
  switch (reduction.kind) {
    case RowKind::kMean:
      return state.real / static_cast<double>(length);
    case RowKind::kVar:
    case RowKind::kStd: {
      const double var = state.real / std::max(static_cast<double>(length) - reduction.correction, 0.0);
      return reduction.kind == RowKind::kVar ? var : std::sqrt(var);
    }
    case RowKind::kLogsumexp:
      return std::log(state.real) + state.shift;
    case RowKind::kNorm:
      if (reduction.order == 2) return std::sqrt(state.real);
      if (reduction.order == 0 || reduction.order == 1 || std::isinf(reduction.order)) return state.real;
      return std::pow(state.real, 1 / reduction.order);
    default:
      return state.real;
  }
}

// Reduces the chosen axes, and makes the result output number `output`.
bool reduce(Call& call, const Tensor& tensor, const bool* chosen, const Reduction& reduction, uint32_t output) {
  uint32_t axes[kMostAxes], rank = 0;
  int64_t sizes[kMostAxes], length = 1;
  reduced_last(tensor, chosen, axes);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (chosen[i]) {
      length *= tensor.sizes[i];
      if (reduction.keeps_axes) sizes[rank++] = 1;
    } else {
      sizes[rank++] = tensor.sizes[i];
    }
  }
  const RowKind kind = reduction.kind;
  Tensor* result =
      make_tensor(call.context.pool, reduction.gives_index ? ScalarType::kInt64 : reduction.to, rank, sizes);
  if (!give(call, output, result)) return false;
  const int64_t count = result->numel();
  const bool is_extreme = kind == RowKind::kMost || kind == RowKind::kLeast;
  if (is_extreme && length == 0 && count > 0) return call.context.fail("no elements have no greatest or least");
  // A copy of the elements in the dtype `from`, if the conversion may lose digits.
  Value converted;
  const Tensor* source = &tensor;
  const bool real = is_floating(reduction.from);
  if (reduction.from != tensor.dtype && (!real || is_floating(tensor.dtype)) &&
      element_bytes(reduction.from) < element_bytes(tensor.dtype)) {
    converted = Value(row_major_copy(call.context.pool, tensor, reduction.from));
    if (converted.is_none()) return call.context.fail_memory();
    source = &converted.tensor();
  }
  Cursor cursor, out;
  cursor.start(*source, axes);
  out.start(*result);
  for (int64_t i = 0; i < count; ++i) {
    RowState state;
    state.order = reduction.order;
    if (kind == RowKind::kProd || kind == RowKind::kAllTrue) state.real = 1, state.whole = 1;
    if (kind == RowKind::kNorm && reduction.order == -kInfinity) state.real = kInfinity;
    if (kind == RowKind::kVar || kind == RowKind::kStd || kind == RowKind::kLogsumexp) {
      RowState first;
      Cursor ahead = cursor;
      const bool is_variance = kind != RowKind::kLogsumexp;
      read_row(ahead, length, is_variance ? RowKind::kMean : RowKind::kMost, first, true);
      state.shift = is_variance ? first.real / static_cast<double>(length) : first.real;
      if (!is_variance && (length == 0 || std::isinf(state.shift))) state.shift = 0;
    }
    read_row(cursor, length, kind, state, real);
    if (reduction.indices != nullptr) reduction.indices->data<int64_t>()[i] = state.index;
    if (reduction.gives_index) {
      out.write(1, Compute::kInt, &state.index);
    } else if (real) {
      const double value = finished(reduction, state, length);
      out.write(1, Compute::kDouble, &value);
    } else {
      out.write(1, Compute::kInt, &state.whole);
    }
  }
  return true;
}

// The numbers of a reduction's arguments; 0: it has none.
struct Places {
  uint32_t axes, keepdim, dtype;
};

bool reduce_arguments(Call& call, Places places, RowKind kind, bool* chosen, Tensor** tensor, Reduction* reduction) {
  *reduction = {kind, false, ScalarType::kFloat32, ScalarType::kFloat32};
  if (!tensor_at(call, 0, tensor)) return false;
  std::fill(chosen, chosen + kMostAxes, true);
  if (places.axes != 0 && !axes_at(call, places.axes, (*tensor)->rank, chosen)) return false;
  if (places.keepdim != 0 && !bool_at(call, places.keepdim, &reduction->keeps_axes)) return false;
  ScalarType dtype = (*tensor)->dtype;
  if (places.dtype != 0 && !dtype_at(call, places.dtype, dtype, &dtype)) return false;
  reduction->from = reduction->to = dtype;
  return true;
}

// Runs a reduction. sum, nansum and prod widen whole numbers; mean, norm, var, std and logsumexp need floats.
bool run_reducing(Call& call, RowKind kind, uint32_t axes, uint32_t keepdim, uint32_t dtype) {
  const bool kWidens = kind == RowKind::kSum || kind == RowKind::kProd || kind == RowKind::kNansum;
  const bool kIsTruth = kind == RowKind::kAnyTrue || kind == RowKind::kAllTrue;
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  if (!reduce_arguments(call, {axes, keepdim, dtype}, kind, chosen, &tensor, &reduction)) return false;
  if (kWidens && !is_floating(reduction.from) && (dtype == 0 || call.input(dtype).is_none())) {
    reduction.from = reduction.to = ScalarType::kInt64;
  }
  if (kind == RowKind::kLogsumexp && !is_floating(reduction.from)) reduction.from = reduction.to = ScalarType::kFloat32;
  if (kind == RowKind::kMean && !is_floating(reduction.from)) return call.context.fail("the elements are no floats");
  if (kIsTruth) {
    reduction.to = tensor->dtype == ScalarType::kUInt8 ? ScalarType::kUInt8 : ScalarType::kBool;
  }
  if (kind == RowKind::kCountNonzero) reduction.to = ScalarType::kInt64;
  return reduce(call, *tensor, chosen, reduction, 0);
}
template <RowKind kKind, uint32_t kAxes, uint32_t kKeepdim, uint32_t kDtype>
bool reducing(Call& call) {
  return run_reducing(call, kKind, kAxes, kKeepdim, kDtype);
}

// Runs var and std, with `both` also the mean. The arguments are (unbiased), (dim, unbiased, keepdim), or (dim,
// correction, keepdim).
bool run_variance(Call& call, RowKind kind, bool both) {
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  const bool is_whole = call.input_count == 2;
  if (!reduce_arguments(call, {is_whole ? 0U : 1U, is_whole ? 0U : 3U, 0}, kind, chosen, &tensor, &reduction)) {
    return false;
  }
  const Value& correction = call.input(is_whole ? 1 : 2);
  if (!correction.is_none() && !is_number(correction)) return call.context.fail("the correction needs a number");
  reduction.correction = correction.is_none() ? 1 : number_of(correction);
  if (!need_floating(call, *tensor) || !reduce(call, *tensor, chosen, reduction, 0)) return false;
  if (!both) return true;
  reduction.kind = RowKind::kMean;
  return reduce(call, *tensor, chosen, reduction, 1);
}
template <RowKind kKind, bool kBoth>
bool variance(Call& call) {
  return run_variance(call, kKind, kBoth);
}

bool norm_of(Call& call, Places places, bool flat_vector) {
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  if (!reduce_arguments(call, places, RowKind::kNorm, chosen, &tensor, &reduction)) return false;
  if (!optional_number_at(call, 1, 2, &reduction.order) || !need_floating(call, *tensor)) return false;
  int64_t length = 1;
  for (uint32_t i = 0; i < tensor->rank; ++i) length *= chosen[i] ? tensor->sizes[i] : 1;
  if (flat_vector && length == 0 && (reduction.order < 0 || reduction.order == kInfinity)) {
    return call.context.fail("no elements have no such norm");
  }
  return reduce(call, *tensor, chosen, reduction, 0);
}
template <uint32_t kAxes, uint32_t kKeepdim, uint32_t kDtype>
bool norm(Call& call) {
  return norm_of(call, {kAxes, kKeepdim, kDtype}, kAxes == 2 && call.input_count == 5);
}

bool frobenius_norm(Call& call) {
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  const Places places = {call.input_count > 1 ? 1U : 0U, call.input_count > 1 ? 2U : 0U, 0};
  if (!reduce_arguments(call, places, RowKind::kNorm, chosen, &tensor, &reduction)) return false;
  return need_floating(call, *tensor) && reduce(call, *tensor, chosen, reduction, 0);
}

// Runs max and min: along one axis they give values and indices; of all elements the value.
bool run_extreme(Call& call, RowKind kind) {
  Tensor* tensor;
  bool chosen[kMostAxes] = {};
  Reduction reduction;
  if (call.input_count == 1) {
    return reduce_arguments(call, {0, 0, 0}, kind, chosen, &tensor, &reduction) &&
           reduce(call, *tensor, chosen, reduction, 0);
  }
  uint32_t axis;
  if (!reduce_arguments(call, {0, 2, 0}, kind, chosen, &tensor, &reduction)) return false;
  if (!axis_at(call, 1, tensor->rank, &axis)) return false;
  std::fill(chosen, chosen + kMostAxes, false);
  chosen[axis] = true;
  int64_t sizes[kMostAxes];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    if (i != axis || reduction.keeps_axes) sizes[rank++] = i == axis ? 1 : tensor->sizes[i];
  }
  Tensor* indices = make_tensor(call.context.pool, ScalarType::kInt64, rank, sizes);
  if (!give(call, 1, indices)) return false;
  reduction.indices = indices;
  return reduce(call, *tensor, chosen, reduction, 0);
}
template <RowKind kKind>
bool extreme(Call& call) {
  return run_extreme(call, kKind);
}

bool aminmax(Call& call) {
  for (uint32_t i = 0; i < 2; ++i) {
    Tensor* tensor;
    bool chosen[kMostAxes];
    Reduction reduction;
    if (!reduce_arguments(call, {1, 2, 0}, i == 0 ? RowKind::kLeast : RowKind::kMost, chosen, &tensor, &reduction) ||
        !reduce(call, *tensor, chosen, reduction, i)) {
      return false;
    }
    // As in PyTorch 1.13, a tensor without axes gets the axis that is kept.
    if (!call.input(1).is_none() && call.input(2).as_bool()) add_missing_axis(call.outputs[i].tensor());
  }
  return true;
}

template <RowKind kKind>
bool place_of_extreme(Call& call) {
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  if (!reduce_arguments(call, {1, 2, 0}, kKind, chosen, &tensor, &reduction)) return false;
  reduction.gives_index = true;
  return reduce(call, *tensor, chosen, reduction, 0);
}

constexpr OperatorRow kRows[] = {
    {"aten::all", 1, 1, reducing<RowKind::kAllTrue, 0, 0, 0>},
    {"aten::all.dim", 3, 1, reducing<RowKind::kAllTrue, 1, 2, 0>},
    {"aten::amax", 3, 1, reducing<RowKind::kMost, 1, 2, 0>},
    {"aten::amin", 3, 1, reducing<RowKind::kLeast, 1, 2, 0>},
    {"aten::aminmax", 3, 2, aminmax},
    {"aten::any", 1, 1, reducing<RowKind::kAnyTrue, 0, 0, 0>},
    {"aten::any.dim", 3, 1, reducing<RowKind::kAnyTrue, 1, 2, 0>},
    {"aten::argmax", 3, 1, place_of_extreme<RowKind::kMost>},
    {"aten::argmin", 3, 1, place_of_extreme<RowKind::kLeast>},
    {"aten::count_nonzero.,dim_IntList", 2, 1, reducing<RowKind::kCountNonzero, 1, 0, 0>},
    {"aten::frobenius_norm", 1, 1, frobenius_norm},
    {"aten::frobenius_norm.dim", 3, 1, frobenius_norm},
    {"aten::linalg_vector_norm", 5, 1, norm<2, 3, 4>},
    {"aten::logsumexp", 3, 1, reducing<RowKind::kLogsumexp, 1, 2, 0>},
    {"aten::max", 1, 1, extreme<RowKind::kMost>},
    {"aten::max.dim", 3, 2, extreme<RowKind::kMost>},
    {"aten::mean", 2, 1, reducing<RowKind::kMean, 0, 0, 1>},
    {"aten::mean.dim", 4, 1, reducing<RowKind::kMean, 1, 2, 3>},
    {"aten::min", 1, 1, extreme<RowKind::kLeast>},
    {"aten::min.dim", 3, 2, extreme<RowKind::kLeast>},
    {"aten::nansum", 4, 1, reducing<RowKind::kNansum, 1, 2, 3>},
    {"aten::norm.Scalar", 2, 1, norm<0, 0, 0>},
    {"aten::norm.ScalarOpt_dim", 4, 1, norm<2, 3, 0>},
    {"aten::norm.ScalarOpt_dim_dtype", 5, 1, norm<2, 3, 4>},
    {"aten::norm.ScalarOpt_dtype", 3, 1, norm<0, 0, 2>},
    {"aten::prod", 2, 1, reducing<RowKind::kProd, 0, 0, 1>},
    {"aten::prod.dim_int", 4, 1, reducing<RowKind::kProd, 1, 2, 3>},
    {"aten::std", 2, 1, variance<RowKind::kStd, false>},
    {"aten::std.dim,correction", 4, 1, variance<RowKind::kStd, false>},
    {"aten::std_mean", 2, 2, variance<RowKind::kStd, true>},
    {"aten::std_mean.dim,correction", 4, 2, variance<RowKind::kStd, true>},
    {"aten::sum", 2, 1, reducing<RowKind::kSum, 0, 0, 1>},
    {"aten::sum.dim_IntList", 4, 1, reducing<RowKind::kSum, 1, 2, 3>},
    {"aten::var", 2, 1, variance<RowKind::kVar, false>},
    {"aten::var.dim,correction", 4, 1, variance<RowKind::kVar, false>},
    {"aten::var_mean", 2, 2, variance<RowKind::kVar, true>},
    {"aten::var_mean.dim,correction", 4, 2, variance<RowKind::kVar, true>},
};

}  // namespace

const OperatorTable reduction_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
