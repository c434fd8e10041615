// Operators that make one number of many: sums, extremes, norms; and those that go along rows: softmax, cumulative
// ones.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "lib/program/arguments.h"

namespace nnapi_shim::program {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Kind {
  kSum,
  kNansum,
  kMean,
  kProd,
  kMost,
  kLeast,
  kAny,
  kAll,
  kCountNonzero,
  kVar,
  kStd,
  kLogsumexp,
  kNorm
};

// What is known of the elements of a row that have been seen.
struct State {
  double real = 0;
  int64_t whole = 0;
  int64_t index = 0;  // of the extreme
  int64_t seen = 0;
  double shift = 0;  // the mean or the greatest element, of a first pass
  double order = 2;  // of a norm
};

void add_reals(Kind kind, State& state, const double* values, size_t count) {
  double sum = state.real;
  switch (kind) {
    case Kind::kSum:
    case Kind::kMean:
      for (size_t i = 0; i < count; ++i) sum += values[i];
      break;
    case Kind::kNansum:
      for (size_t i = 0; i < count; ++i) sum += values[i] == values[i] ? values[i] : 0;
      break;
    case Kind::kProd:
      for (size_t i = 0; i < count; ++i) sum *= values[i];
      break;
    case Kind::kMost:
    case Kind::kLeast:
      for (size_t i = 0; i < count && sum == sum; ++i) {
        if (kind == Kind::kMost ? values[i] <= sum : values[i] >= sum) {
          if (state.seen + static_cast<int64_t>(i) > 0) continue;
        }
        sum = values[i];
        state.index = state.seen + static_cast<int64_t>(i);
      }
      break;
    case Kind::kAny:
      for (size_t i = 0; i < count; ++i) sum = values[i] != 0 ? 1 : sum;
      break;
    case Kind::kAll:
      for (size_t i = 0; i < count; ++i) sum = values[i] == 0 ? 0 : sum;
      break;
    case Kind::kCountNonzero:
      for (size_t i = 0; i < count; ++i) sum += values[i] != 0 ? 1 : 0;
      break;
    case Kind::kVar:
    case Kind::kStd:
      for (size_t i = 0; i < count; ++i) sum += (values[i] - state.shift) * (values[i] - state.shift);
      break;
    case Kind::kLogsumexp:
      for (size_t i = 0; i < count; ++i) sum += std::exp(values[i] - state.shift);
      break;
    case Kind::kNorm:
      for (size_t i = 0; i < count; ++i) {
        const double size = std::fabs(values[i]);
        if (state.order == 2) {
          sum += size * size;
        } else if (state.order == 1) {
          sum += size;
        } else if (state.order == kInfinity) {
          sum = size <= sum ? sum : size;
        } else if (state.order == -kInfinity) {
          sum = size >= sum ? sum : size;
        } else if (state.order == 0) {
          sum += size != 0 ? 1 : 0;
        } else {
          sum += std::pow(size, state.order);
        }
        if (sum != sum) break;
      }
      break;
  }
  state.real = sum;
  state.seen += static_cast<int64_t>(count);
}

void add_wholes(Kind kind, State& state, const int64_t* values, size_t count) {
  auto sum = static_cast<uint64_t>(state.whole);
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = values[i], old = static_cast<int64_t>(sum);
    switch (kind) {
      case Kind::kProd:
        sum *= static_cast<uint64_t>(value);
        break;
      case Kind::kMost:
      case Kind::kLeast:
        if (state.seen + static_cast<int64_t>(i) == 0 || (kind == Kind::kMost ? value > old : value < old)) {
          sum = static_cast<uint64_t>(value);
          state.index = state.seen + static_cast<int64_t>(i);
        }
        break;
      case Kind::kAny:
        sum = value != 0 ? 1 : sum;
        break;
      case Kind::kAll:
        sum = value == 0 ? 0 : sum;
        break;
      case Kind::kCountNonzero:
        sum += value != 0 ? 1 : 0;
        break;
      default:
        sum += static_cast<uint64_t>(value);
        break;
    }
  }
  state.whole = static_cast<int64_t>(sum);
  state.seen += static_cast<int64_t>(count);
}

// The axes that aren't reduced, then those that are.
void reduced_last(const Tensor& tensor, const bool* reduced, uint32_t* axes) {
  uint32_t count = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t i = 0; i < tensor.rank; ++i) {
      if (reduced[i] == (pass == 1)) axes[count++] = i;
    }
  }
}

struct Reduction {
  Kind kind;
  bool keeps_axes;
  ScalarType from;  // elements become this one before
  ScalarType to;    // of the result
  double order = 2;
  double correction = 0;
  bool gives_index = false;   // instead of the extreme
  Tensor* indices = nullptr;  // also those
};

void read_row(Cursor& cursor, int64_t length, Kind kind, State& state, bool real) {
  ChunkBuffer buffer;
  for (int64_t i = 0; i < length;) {
    const auto count = static_cast<size_t>(std::min<int64_t>(length - i, kChunk));
    if (real) {
      cursor.read(count, Compute::kDouble, &buffer);
      add_reals(kind, state, buffer.doubles, count);
    } else {
      cursor.read(count, Compute::kInt, &buffer);
      add_wholes(kind, state, buffer.ints, count);
    }
    i += static_cast<int64_t>(count);
  }
}

double finished(const Reduction& reduction, const State& state, int64_t length) {
  switch (reduction.kind) {
    case Kind::kMean:
      return state.real / static_cast<double>(length);
    case Kind::kVar:
    case Kind::kStd: {
      const double var = state.real / std::max(static_cast<double>(length) - reduction.correction, 0.0);
      return reduction.kind == Kind::kVar ? var : std::sqrt(var);
    }
    case Kind::kLogsumexp:
      return std::log(state.real) + state.shift;
    case Kind::kNorm:
      if (reduction.order == 2) return std::sqrt(state.real);
      if (reduction.order == 0 || reduction.order == 1 || std::isinf(reduction.order)) return state.real;
      return std::pow(state.real, 1 / reduction.order);
    default:
      return state.real;
  }
}

// Reduces the chosen axes into the output of that number.
bool reduce(Call& call, const Tensor& tensor, const bool* chosen, const Reduction& reduction, uint32_t output) {
  uint32_t axes[kMostAxes], kept = 0, rank = 0;
  int64_t sizes[kMostAxes], length = 1;
  reduced_last(tensor, chosen, axes);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (chosen[i]) {
      length *= tensor.sizes[i];
      if (reduction.keeps_axes) sizes[rank++] = 1;
    } else {
      sizes[rank++] = tensor.sizes[i];
      ++kept;
    }
  }
  const Kind kind = reduction.kind;
  Tensor* result =
      make_tensor(call.context.pool, reduction.gives_index ? ScalarType::kInt64 : reduction.to, rank, sizes);
  if (!give(call, output, result)) return false;
  const int64_t count = result->numel();
  const bool is_extreme = kind == Kind::kMost || kind == Kind::kLeast;
  if (is_extreme && length == 0 && count > 0) return call.context.fail("no elements have no greatest or least");
  // What the elements become before: a dtype that is cut needs a copy.
  Value converted;
  const Tensor* source = &tensor;
  const bool real = is_floating(reduction.from);
  if (reduction.from != tensor.dtype && (real ? is_floating(tensor.dtype) : true) &&
      element_bytes(reduction.from) < element_bytes(tensor.dtype)) {
    Tensor* copy = make_tensor(call.context.pool, reduction.from, tensor.rank, tensor.sizes);
    if (copy == nullptr) return call.context.fail_memory();
    converted = Value(copy);
    copy_elements(tensor, *copy);
    source = copy;
  }
  Cursor cursor, out;
  cursor.start(*source, axes);
  out.start(*result);
  for (int64_t i = 0; i < count; ++i) {
    State state;
    state.order = reduction.order;
    if (kind == Kind::kProd || kind == Kind::kAll) state.real = 1, state.whole = 1;
    if (kind == Kind::kNorm && reduction.order == -kInfinity) state.real = kInfinity;
    if (kind == Kind::kVar || kind == Kind::kStd || kind == Kind::kLogsumexp) {
      State first;
      Cursor ahead = cursor;
      const bool is_variance = kind != Kind::kLogsumexp;
      read_row(ahead, length, is_variance ? Kind::kMean : Kind::kMost, first, true);
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

// The numbers of a reduction's arguments: 0: there is none.
struct Places {
  uint32_t axes, keepdim, dtype;
};

bool reduce_arguments(Call& call, Places places, Kind kind, bool* chosen, Tensor** tensor, Reduction* reduction) {
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

// sum, nansum and prod widen whole numbers; mean, norm, var, std and logsumexp need floats.
bool run_reducing(Call& call, Kind kind, uint32_t axes, uint32_t keepdim, uint32_t dtype) {
  const bool kWidens = kind == Kind::kSum || kind == Kind::kProd || kind == Kind::kNansum;
  const bool kIsTruth = kind == Kind::kAny || kind == Kind::kAll;
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  if (!reduce_arguments(call, {axes, keepdim, dtype}, kind, chosen, &tensor, &reduction)) return false;
  if (kWidens && !is_floating(reduction.from) && (dtype == 0 || call.input(dtype).is_none())) {
    reduction.from = reduction.to = ScalarType::kInt64;
  }
  if (kind == Kind::kLogsumexp && !is_floating(reduction.from)) reduction.from = reduction.to = ScalarType::kFloat32;
  if (kind == Kind::kMean && !is_floating(reduction.from)) return call.context.fail("the elements are no floats");
  if (kIsTruth) {
    reduction.to = tensor->dtype == ScalarType::kUInt8 ? ScalarType::kUInt8 : ScalarType::kBool;
  }
  if (kind == Kind::kCountNonzero) reduction.to = ScalarType::kInt64;
  return reduce(call, *tensor, chosen, reduction, 0);
}
template <Kind kKind, uint32_t kAxes, uint32_t kKeepdim, uint32_t kDtype>
bool reducing(Call& call) {
  return run_reducing(call, kKind, kAxes, kKeepdim, kDtype);
}

// var, std and with kBoth also the mean: (unbiased), (dim, unbiased, keepdim), or (dim, correction, keepdim).
bool run_variance(Call& call, Kind kind, bool both) {
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
  reduction.kind = Kind::kMean;
  return reduce(call, *tensor, chosen, reduction, 1);
}
template <Kind kKind, bool kBoth>
bool variance(Call& call) {
  return run_variance(call, kKind, kBoth);
}

bool norm_of(Call& call, Places places, bool flat_vector) {
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  if (!reduce_arguments(call, places, Kind::kNorm, chosen, &tensor, &reduction)) return false;
  if (!optional_number_at(call, 1, 2, &reduction.order)) return false;
  if (!is_floating(tensor->dtype)) return call.context.fail("the norm needs floats");
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
  if (!reduce_arguments(call, places, Kind::kNorm, chosen, &tensor, &reduction)) return false;
  return need_floating(call, *tensor) && reduce(call, *tensor, chosen, reduction, 0);
}

// Of one axis: values and indices; or of all: values.
bool run_extreme(Call& call, Kind kind) {
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
template <Kind kKind>
bool extreme(Call& call) {
  return run_extreme(call, kKind);
}

bool aminmax(Call& call) {
  for (uint32_t i = 0; i < 2; ++i) {
    Tensor* tensor;
    bool chosen[kMostAxes];
    Reduction reduction;
    if (!reduce_arguments(call, {1, 2, 0}, i == 0 ? Kind::kLeast : Kind::kMost, chosen, &tensor, &reduction) ||
        !reduce(call, *tensor, chosen, reduction, i)) {
      return false;
    }
    // As in PyTorch 1.13, the axis that is kept of a single number is one.
    if (tensor->rank > 0 || call.input(1).is_none() || !call.input(2).as_bool()) continue;
    Tensor& made = call.outputs[i].tensor();
    made.rank = 1;
    made.sizes[0] = made.strides[0] = 1;
  }
  return true;
}

template <Kind kKind>
bool place_of_extreme(Call& call) {
  Tensor* tensor;
  bool chosen[kMostAxes];
  Reduction reduction;
  if (!reduce_arguments(call, {1, 2, 0}, kKind, chosen, &tensor, &reduction)) return false;
  reduction.gives_index = true;
  return reduce(call, *tensor, chosen, reduction, 0);
}

// The argument, and an output of its sizes in the dtype; `axes` have the one of argument 1 last. `length`: of rows.
bool start_rows(Call& call, ScalarType dtype, Tensor** tensor, Tensor** result, uint32_t* axes, int64_t* length) {
  uint32_t axis;
  if (!tensor_at(call, 0, tensor) || !axis_at(call, 1, (*tensor)->rank, &axis)) return false;
  bool chosen[kMostAxes] = {};
  chosen[axis] = true;
  reduced_last(**tensor, chosen, axes);
  *length = (*tensor)->rank > 0 ? (*tensor)->sizes[axis] : 1;
  *result = make_tensor_like(call.context.pool, dtype, (*tensor)->rank, (*tensor)->sizes, **tensor);
  return give(call, 0, *result);
}

bool run_softmax(Call& call, bool is_log, bool has_dtype) {
  Tensor *tensor, *result;
  uint32_t axes[kMostAxes];
  int64_t length;
  ScalarType dtype;
  if (!tensor_at(call, 0, &tensor)) return false;
  dtype = tensor->dtype;
  if (has_dtype && !dtype_at(call, 2, dtype, &dtype)) return false;
  if (!is_floating(dtype)) return call.context.fail("softmax() of %s", dtype_name(dtype));
  if (!start_rows(call, dtype, &tensor, &result, axes, &length)) return false;
  if (result->numel() == 0) return true;
  const int64_t rows = result->numel() / length;
  Cursor cursor, out;
  cursor.start(*tensor, axes);
  out.start(*result, axes);
  double buffer[kChunk];
  const bool is_single = compute_of(dtype) == Compute::kFloat;
  for (int64_t row = 0; row < rows; ++row) {
    State most, sum;
    if (!is_log && length <= static_cast<int64_t>(kChunk)) {
      // A short row is read once, and each exponential is computed once.
      const auto count = static_cast<size_t>(length);
      cursor.read(count, Compute::kDouble, buffer);
      add_reals(Kind::kMost, most, buffer, count);
      for (size_t k = 0; k < count; ++k) {
        const double value = buffer[k] - most.real;
        buffer[k] = is_single ? static_cast<double>(std::exp(static_cast<float>(value))) : std::exp(value);
        sum.real += buffer[k];
      }
      for (size_t k = 0; k < count; ++k) buffer[k] /= sum.real;
      out.write(count, Compute::kDouble, buffer);
      continue;
    }
    Cursor second = cursor, third = cursor;
    read_row(cursor, length, Kind::kMost, most, true);
    sum.shift = most.real;
    read_row(second, length, Kind::kLogsumexp, sum, true);
    const double log_sum = std::log(sum.real), inverse = 1 / sum.real;
    for (int64_t i = 0; i < length;) {
      const auto count = static_cast<size_t>(std::min<int64_t>(length - i, kChunk));
      third.read(count, Compute::kDouble, buffer);
      for (size_t k = 0; k < count; ++k) {
        const double value = buffer[k] - sum.shift;
        buffer[k] = is_log ? value - log_sum : std::exp(value) * inverse;
      }
      out.write(count, Compute::kDouble, buffer);
      i += static_cast<int64_t>(count);
    }
  }
  return true;
}
template <bool kIsLog, bool kHasDtype>
bool softmax(Call& call) {
  return run_softmax(call, kIsLog, kHasDtype);
}

enum class Running { kSum, kProd, kLogsumexp };

bool run_cumulative(Call& call, Running what) {
  Tensor *tensor, *result;
  uint32_t axes[kMostAxes];
  int64_t length;
  ScalarType dtype;
  if (!tensor_at(call, 0, &tensor)) return false;
  dtype = is_floating(tensor->dtype) ? tensor->dtype : ScalarType::kInt64;
  if (call.input_count > 2 && !dtype_at(call, 2, dtype, &dtype)) return false;
  if (what == Running::kLogsumexp && !need_floating(call, *tensor)) return false;
  if (!start_rows(call, dtype, &tensor, &result, axes, &length)) return false;
  if (result->numel() == 0) return true;
  const bool real = is_floating(dtype);
  const int64_t rows = result->numel() / length;
  const double start = what == Running::kSum ? 0 : (what == Running::kProd ? 1 : -kInfinity);
  Cursor cursor, out;
  cursor.start(*tensor, axes);
  out.start(*result, axes);
  ChunkBuffer buffer;
  for (int64_t row = 0; row < rows; ++row) {
    double running = start;
    uint64_t whole = what == Running::kProd ? 1 : 0;
    for (int64_t i = 0; i < length;) {
      const auto count = static_cast<size_t>(std::min<int64_t>(length - i, kChunk));
      const Compute compute = real ? Compute::kDouble : Compute::kInt;
      cursor.read(count, compute, &buffer);
      for (size_t k = 0; k < count; ++k) {
        if (!real) {
          const auto value = static_cast<uint64_t>(buffer.ints[k]);
          whole = what == Running::kSum ? whole + value : whole * value;
          buffer.ints[k] = static_cast<int64_t>(whole);
          continue;
        }
        const double value = buffer.doubles[k];
        if (what == Running::kLogsumexp) {
          const double most = std::max(running, value), least = std::min(running, value);
          running = most == -kInfinity || (std::isinf(most) && least == most)
                        ? most
                        : (running != running || value != value ? running + value
                                                                : most + std::log1p(std::exp(least - most)));
        } else {
          running = what == Running::kSum ? running + value : running * value;
        }
        buffer.doubles[k] = running;
      }
      out.write(count, compute, &buffer);
      i += static_cast<int64_t>(count);
    }
  }
  return true;
}
template <Running kRunning>
bool cumulative(Call& call) {
  return run_cumulative(call, kRunning);
}

bool run_cumulative_extreme(Call& call, bool most) {
  Tensor *tensor, *result;
  uint32_t axes[kMostAxes];
  int64_t length;
  if (!tensor_at(call, 0, &tensor)) return false;
  if (!start_rows(call, tensor->dtype, &tensor, &result, axes, &length)) return false;
  Tensor* indices = make_tensor_like(call.context.pool, ScalarType::kInt64, tensor->rank, tensor->sizes, *tensor);
  if (!give(call, 1, indices)) return false;
  if (result->numel() == 0) return true;
  const int64_t rows = result->numel() / length;
  Cursor cursor, out, places;
  cursor.start(*tensor, axes);
  out.start(*result, axes);
  places.start(*indices, axes);
  const bool real = is_floating(tensor->dtype);
  const Compute compute = real ? Compute::kDouble : Compute::kInt;
  for (int64_t row = 0; row < rows; ++row) {
    double best = 0;
    int64_t whole = 0, place = 0;
    for (int64_t i = 0; i < length; ++i) {
      double value = 0;
      int64_t number = 0;
      cursor.read(1, compute, real ? static_cast<void*>(&value) : &number);
      const bool better = real ? value != value || (best == best && (most ? value >= best : value <= best))
                               : (most ? number >= whole : number <= whole);
      if (i == 0 || better) {
        best = value;
        whole = number;
        place = i;
      }
      out.write(1, compute, real ? static_cast<void*>(&best) : &whole);
      places.write(1, Compute::kInt, &place);
    }
  }
  return true;
}
template <bool kMost>
bool cumulative_extreme(Call& call) {
  return run_cumulative_extreme(call, kMost);
}

constexpr OperatorRow kRows[] = {
    {"aten::_log_softmax", 3, 1, softmax<true, false>},
    {"aten::_softmax", 3, 1, softmax<false, false>},
    {"aten::all", 1, 1, reducing<Kind::kAll, 0, 0, 0>},
    {"aten::all.dim", 3, 1, reducing<Kind::kAll, 1, 2, 0>},
    {"aten::amax", 3, 1, reducing<Kind::kMost, 1, 2, 0>},
    {"aten::amin", 3, 1, reducing<Kind::kLeast, 1, 2, 0>},
    {"aten::aminmax", 3, 2, aminmax},
    {"aten::any", 1, 1, reducing<Kind::kAny, 0, 0, 0>},
    {"aten::any.dim", 3, 1, reducing<Kind::kAny, 1, 2, 0>},
    {"aten::argmax", 3, 1, place_of_extreme<Kind::kMost>},
    {"aten::argmin", 3, 1, place_of_extreme<Kind::kLeast>},
    {"aten::count_nonzero.,dim_IntList", 2, 1, reducing<Kind::kCountNonzero, 1, 0, 0>},
    {"aten::cummax", 2, 2, cumulative_extreme<true>},
    {"aten::cummin", 2, 2, cumulative_extreme<false>},
    {"aten::cumprod", 3, 1, cumulative<Running::kProd>},
    {"aten::cumsum", 3, 1, cumulative<Running::kSum>},
    {"aten::frobenius_norm", 1, 1, frobenius_norm},
    {"aten::frobenius_norm.dim", 3, 1, frobenius_norm},
    {"aten::linalg_vector_norm", 5, 1, norm<2, 3, 4>},
    {"aten::log_softmax.int", 3, 1, softmax<true, true>},
    {"aten::logcumsumexp", 2, 1, cumulative<Running::kLogsumexp>},
    {"aten::logsumexp", 3, 1, reducing<Kind::kLogsumexp, 1, 2, 0>},
    {"aten::max", 1, 1, extreme<Kind::kMost>},
    {"aten::max.dim", 3, 2, extreme<Kind::kMost>},
    {"aten::mean", 2, 1, reducing<Kind::kMean, 0, 0, 1>},
    {"aten::mean.dim", 4, 1, reducing<Kind::kMean, 1, 2, 3>},
    {"aten::min", 1, 1, extreme<Kind::kLeast>},
    {"aten::min.dim", 3, 2, extreme<Kind::kLeast>},
    {"aten::nansum", 4, 1, reducing<Kind::kNansum, 1, 2, 3>},
    {"aten::norm.Scalar", 2, 1, norm<0, 0, 0>},
    {"aten::norm.ScalarOpt_dim", 4, 1, norm<2, 3, 0>},
    {"aten::norm.ScalarOpt_dim_dtype", 5, 1, norm<2, 3, 4>},
    {"aten::norm.ScalarOpt_dtype", 3, 1, norm<0, 0, 2>},
    {"aten::prod", 2, 1, reducing<Kind::kProd, 0, 0, 1>},
    {"aten::prod.dim_int", 4, 1, reducing<Kind::kProd, 1, 2, 3>},
    {"aten::softmax.int", 3, 1, softmax<false, true>},
    {"aten::std", 2, 1, variance<Kind::kStd, false>},
    {"aten::std.dim,correction", 4, 1, variance<Kind::kStd, false>},
    {"aten::std_mean", 2, 2, variance<Kind::kStd, true>},
    {"aten::std_mean.dim,correction", 4, 2, variance<Kind::kStd, true>},
    {"aten::sum", 2, 1, reducing<Kind::kSum, 0, 0, 1>},
    {"aten::sum.dim_IntList", 4, 1, reducing<Kind::kSum, 1, 2, 3>},
    {"aten::var", 2, 1, variance<Kind::kVar, false>},
    {"aten::var.dim,correction", 4, 1, variance<Kind::kVar, false>},
    {"aten::var_mean", 2, 2, variance<Kind::kVar, true>},
    {"aten::var_mean.dim,correction", 4, 2, variance<Kind::kVar, true>},
};

}  // namespace

const OperatorTable reduction_operators = {kRows, std::size(kRows)};

}  // namespace nnapi_shim::program
