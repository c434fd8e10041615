// SPDX-License-Identifier: BSD-3-Clause
// The order of elements, for all operators that sort.
#pragma once

#include <cstdint>

#include "lib/program/operators.h"

namespace nnapi_shim::program {

// Whole numbers in the order of doubles: NaN is above all, and both zeros are one.
int64_t order_key(double value);

// An element's place and its key. ~key turns the order of keys.
struct OrderEntry {
  int64_t key, number;
};

// Memory for entries from the call's pool. Null if memory is short.
Tensor* make_entries(Call& call, int64_t count, OrderEntry** entries);

// Puts all entries in the order of their keys; those of the same key are in the order of their numbers.
void order_entries(OrderEntry* entries, int64_t count);

// How many entries choose_first() needs for the first `first` of `count` elements.
int64_t entries_to_choose(int64_t count, int64_t first);

// Puts the first `first` of `count` elements in order, as entries. Those of the same value are in the order of their
// numbers. The elements are doubles, or int64 if `is_real` is false.
void choose_first(const void* elements, bool is_real, int64_t count, int64_t first, bool descending,
                  OrderEntry* entries);

}  // namespace nnapi_shim::program
