#include "lib/program/ordering.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nnapi_shim::program {

int64_t order_key(double value) {
  if (value != value) return std::numeric_limits<int64_t>::max();
  if (value == 0) return 0;
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  // Below zero the order of the magnitudes is turned.
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits : bits;
}

void order_numbers(int64_t* numbers, int64_t count, int64_t first, const int64_t* keys, bool descending) {
  const auto before = [keys, descending](int64_t a, int64_t b) {
    if (keys[a] != keys[b]) return descending ? keys[a] > keys[b] : keys[a] < keys[b];
    return a < b;
  };
  if (first < count) std::nth_element(numbers, numbers + first, numbers + count, before);
  std::sort(numbers, numbers + std::min(first, count), before);
}

}  // namespace nnapi_shim::program
