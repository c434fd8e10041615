// SPDX-License-Identifier: BSD-3-Clause
// Rows: the elements of a tensor along the axes that an operator reduces to one number, or goes along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "lib/program/elements.h"
#include "lib/program/operators.h"

namespace nnapi_shim::program {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class RowKind {
  kSum,
  kNansum,
  kMean,
  kProd,
  kMost,
  kLeast,
  kAnyTrue,
  kAllTrue,
  kCountNonzero,
  kVar,
  kStd,
  kLogsumexp,
  kNorm
};

// The state of a reduction after some elements of a row.
struct RowState {
  double real = 0;
  int64_t whole = 0;
  int64_t index = 0;  // the place of the extreme
  int64_t seen = 0;
  double shift = 0;  // the mean or the greatest element, of a first pass
  double order = 2;  // the order of a norm
};

void add_reals(RowKind kind, RowState& state, const double* values, size_t count);
void add_wholes(RowKind kind, RowState& state, const int64_t* values, size_t count);
// Adds the next `length` elements, as doubles (`real`) or whole numbers.
void read_row(Cursor& cursor, int64_t length, RowKind kind, RowState& state, bool real);

// Returns the axes that aren't reduced, then those that are.
void reduced_last(const Tensor& tensor, const bool* reduced, uint32_t* axes);

// Reads the first argument, and makes an output of its sizes in the dtype. `axes` are its axes with the axis of
// argument 1 last; `length` is the length of rows.
bool start_rows(Call& call, ScalarType dtype, Tensor** tensor, Tensor** result, uint32_t* axes, int64_t* length);

}  // namespace nnapi_shim::program
