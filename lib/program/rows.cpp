// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/rows.h"

#include <algorithm>
#include <cmath>

#include "lib/program/arguments.h"

namespace nnapi_shim::program {

void add_reals(RowKind kind, RowState& state, const double* values, size_t count) {
  double sum = state.real;
  switch (kind) {
    case RowKind::kSum:
    case RowKind::kMean:
      for (size_t i = 0; i < count; ++i) sum += values[i];
      break;
    case RowKind::kNansum:
      for (size_t i = 0; i < count; ++i) sum += values[i] == values[i] ? values[i] : 0;
      break;
    case RowKind::kProd:
      for (size_t i = 0; i < count; ++i) sum *= values[i];
      break;
    case RowKind::kMost:
    case RowKind::kLeast:
      for (size_t i = 0; i < count && sum == sum; ++i) {
        if (kind == RowKind::kMost ? values[i] <= sum : values[i] >= sum) {
          if (state.seen + static_cast<int64_t>(i) > 0) continue;
        }
        sum = values[i];
        state.index = state.seen + static_cast<int64_t>(i);
      }
      break;
    case RowKind::kAnyTrue:
      for (size_t i = 0; i < count; ++i) sum = values[i] != 0 ? 1 : sum;
      break;
    case RowKind::kAllTrue:
      for (size_t i = 0; i < count; ++i) sum = values[i] == 0 ? 0 : sum;
      break;
    case RowKind::kCountNonzero:
      for (size_t i = 0; i < count; ++i) sum += values[i] != 0 ? 1 : 0;
      break;
    case RowKind::kVar:
    case RowKind::kStd:
      for (size_t i = 0; i < count; ++i) sum += (values[i] - state.shift) * (values[i] - state.shift);
      break;
    case RowKind::kLogsumexp:
      for (size_t i = 0; i < count; ++i) sum += std::exp(values[i] - state.shift);
      break;
    case RowKind::kNorm:
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

void add_wholes(RowKind kind, RowState& state, const int64_t* values, size_t count) {
  auto sum = static_cast<uint64_t>(state.whole);
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = values[i], old = static_cast<int64_t>(sum);
    switch (kind) {
      case RowKind::kProd:
        sum *= static_cast<uint64_t>(value);
        break;
      case RowKind::kMost:
      case RowKind::kLeast:
        if (state.seen + static_cast<int64_t>(i) == 0 || (kind == RowKind::kMost ? value > old : value < old)) {
          sum = static_cast<uint64_t>(value);
          state.index = state.seen + static_cast<int64_t>(i);
        }
        break;
      case RowKind::kAnyTrue:
        sum = value != 0 ? 1 : sum;
        break;
      case RowKind::kAllTrue:
        sum = value == 0 ? 0 : sum;
        break;
      case RowKind::kCountNonzero:
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

void reduced_last(const Tensor& tensor, const bool* reduced, uint32_t* axes) {
  uint32_t count = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t i = 0; i < tensor.rank; ++i) {
      if (reduced[i] == (pass == 1)) axes[count++] = i;
    }
  }
}

void read_row(Cursor& cursor, int64_t length, RowKind kind, RowState& state, bool real) {
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

}  // namespace nnapi_shim::program
