// SPDX-License-Identifier: BSD-3-Clause
// Lowers writing elements to computed indices of rows, as NNAPI has no operation for it: compares each place with each
// index. A place takes the reduction of all elements written to it, or the last of them.
#pragma once

#include "lib/ops/expression.h"

namespace nnapi_convert {

constexpr int64_t kMostPlaces = int64_t{1} << 24;  // float32 holds all integers up to this one

// Refuses everything but float32 and integer tensors of fixed sizes above 0.
void require_written(const OpArguments& args, const TensorType& type);
// Returns indices of an axis counted from the front; negative indices count from the end.
Expression from_front(const Expression& index, double size);

struct Writing {
  Expression self;      // [rows, size], float32
  Expression source;    // [rows, count], float32
  Expression is_there;  // [rows or 1, count, size]: true if the element is written to the place
};

// Returns [rows, size]: for each place the reduction of the elements written to it.
Expression reduced_writes(const Writing& writing, OperationCode code, double neutral);
// Returns how many elements are written to each place.
Expression counted_writes(const Writing& writing);
// Returns for each place the last element written to it; the element of `self` if there is none.
Expression last_writes(const Writing& writing);

}  // namespace nnapi_convert
