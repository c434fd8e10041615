// SPDX-License-Identifier: BSD-3-Clause
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

Tensor* make_entries(Call& call, int64_t count, OrderEntry** entries) {
  const int64_t sizes[2] = {count, sizeof(OrderEntry) / sizeof(int64_t)};
  Tensor* made = make_tensor(call.context.pool, ScalarType::kInt64, 2, sizes);
  if (made != nullptr) *entries = reinterpret_cast<OrderEntry*>(made->data<int64_t>());
  return made;
}

void order_entries(OrderEntry* entries, int64_t count, int64_t first) {
  const auto before = [](const OrderEntry& a, const OrderEntry& b) {
    return a.key != b.key ? a.key < b.key : a.number < b.number;
  };
  constexpr int64_t kFew = 64;  // a heap of so small a share is seldom changed
  if (first <= count / kFew) {
    std::partial_sort(entries, entries + first, entries + count, before);
    return;
  }
  if (first < count) std::nth_element(entries, entries + first, entries + count, before);
  std::sort(entries, entries + std::min(first, count), before);
}

}  // namespace nnapi_shim::program
