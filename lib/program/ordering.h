// SPDX-License-Identifier: BSD-3-Clause
// The order of elements, for all operators that sort.
#pragma once

#include <cstdint>

#include "lib/program/operators.h"

namespace nnapi_shim::program {

// Returns a whole number that orders doubles: NaN is above all numbers, and both zeros are equal.
int64_t order_key(double value);

// An element's place and its key. ~key reverses the order of keys.
struct OrderEntry {
  int64_t key, number;
};

// Returns memory for entries from the call's pool. Null if memory is short.
Tensor* make_entries(Call& call, int64_t count, OrderEntry** entries);

// Sorts all entries by their keys; entries of equal keys by their numbers.
void order_entries(OrderEntry* entries, int64_t count);

// Returns how many entries choose_first() needs for the first `first` of `count` elements.
int64_t entries_to_choose(int64_t count, int64_t first);

// Sorts the first `first` of `count` elements into `entries`; equal elements by their numbers. The elements are
// doubles, or int64 if `is_real` is false.
void choose_first(const void* elements, bool is_real, int64_t count, int64_t first, bool descending,
                  OrderEntry* entries);

}  // namespace nnapi_shim::program
