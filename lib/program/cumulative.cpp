// SPDX-License-Identifier: BSD-3-Clause
// Sums, products and extremes of the elements of an axis up to each of them.
#include <algorithm>
#include <cmath>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/rows.h"

namespace nnapi_shim::program {

namespace {

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
    {"aten::cummax", 2, 2, cumulative_extreme<true>},
    {"aten::cummin", 2, 2, cumulative_extreme<false>},
    {"aten::cumprod", 3, 1, cumulative<Running::kProd>},
    {"aten::cumsum", 3, 1, cumulative<Running::kSum>},
    {"aten::logcumsumexp", 2, 1, cumulative<Running::kLogsumexp>},
};

}  // namespace

const OperatorTable cumulative_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
