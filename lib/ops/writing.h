// Elements written to computed places of rows, which NNAPI has no operation for: each place is compared with each
// index, and takes what is reduced of the elements whose index it is, or the last of them.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

constexpr int64_t kMostPlaces = int64_t{1} << 24;  // whole numbers that a float32 holds

// Refuses what is no float32 or integer tensor of fixed sizes with elements.
void require_written(const OpArguments& args, const TensorType& type);
// Indices of an axis, of which negative ones count from the end.
Expression from_front(const Expression& index, double size);

struct Writing {
  Expression self;      // [rows, size], float32
  Expression source;    // [rows, count], float32
  Expression is_there;  // [rows or 1, count, size]: an element is written to a place
};

// [rows, size] of what is written to each place, reduced.
Expression reduced_writes(const Writing& writing, OperationCode code, double neutral);
// How many elements are written to each place.
Expression counted_writes(const Writing& writing);
// The last element that is written to each place, or the one that was there.
Expression last_writes(const Writing& writing);

}  // namespace nnapi_convert
