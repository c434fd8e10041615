// The order of elements, for all operators that sort.
#pragma once

#include <cstdint>

namespace nnapi_shim::program {

// Whole numbers in the order of doubles: NaN is above all, and both zeros are one.
int64_t order_key(double value);

// Puts the first `first` of `count` numbers, which are places in `keys`, in the order of their keys; numbers of the
// same key keep their own order.
void order_numbers(int64_t* numbers, int64_t count, int64_t first, const int64_t* keys, bool descending);

}  // namespace nnapi_shim::program
