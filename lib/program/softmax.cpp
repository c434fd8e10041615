// SPDX-License-Identifier: BSD-3-Clause
// Softmax and its logarithm along an axis.
#include <algorithm>
#include <cmath>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/rows.h"

namespace nnapi_shim::program {

namespace {

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
    RowState most, sum;
    if (!is_log && length <= static_cast<int64_t>(kChunk)) {
      // A short row is read once, and each exponential is computed once.
      const auto count = static_cast<size_t>(length);
      cursor.read(count, Compute::kDouble, buffer);
      add_reals(RowKind::kMost, most, buffer, count);
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
    read_row(cursor, length, RowKind::kMost, most, true);
    sum.shift = most.real;
    read_row(second, length, RowKind::kLogsumexp, sum, true);
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

constexpr OperatorRow kRows[] = {
    {"aten::_log_softmax", 3, 1, softmax<true, false>},
    {"aten::_softmax", 3, 1, softmax<false, false>},
    {"aten::log_softmax.int", 3, 1, softmax<true, true>},
    {"aten::softmax.int", 3, 1, softmax<false, true>},
};

}  // namespace

const OperatorTable softmax_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
