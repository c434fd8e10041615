// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/ordering.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nnapi_shim::program {
namespace {

bool is_before(const OrderEntry& a, const OrderEntry& b) {
  return a.key != b.key ? a.key < b.key : a.number < b.number;
}

}  // namespace

int64_t order_key(double value) {
  if (value != value) return std::numeric_limits<int64_t>::max();
  if (value == 0) return 0;
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  // Below zero the order of the bits is reversed.
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits : bits;
}

Tensor* make_entries(Call& call, int64_t count, OrderEntry** entries) {
  const int64_t sizes[2] = {count, sizeof(OrderEntry) / sizeof(int64_t)};
  Tensor* made = make_tensor(call.context.pool, ScalarType::kInt64, 2, sizes);
  if (made != nullptr) *entries = reinterpret_cast<OrderEntry*>(made->data<int64_t>());
  return made;
}

void order_entries(OrderEntry* entries, int64_t count) {
  std::sort(entries, entries + count, is_before);
}

int64_t entries_to_choose(int64_t count, int64_t first) {
  constexpr int64_t kLeast = 256;
  return std::min(count, std::max(kLeast, 2 * std::min(first, count)));
}

// The number of elements that any_before() tests together.
constexpr int64_t kTogether = 16;

// Returns false if no value comes before `last`; values equal to it don't. True if one is NaN.
bool any_before(const double* values, double last, bool descending) {
  int64_t behind = 0;
  if (descending) {
    for (int64_t i = 0; i < kTogether; ++i) behind += values[i] <= last ? 1 : 0;
  } else {
    for (int64_t i = 0; i < kTogether; ++i) behind += values[i] >= last ? 1 : 0;
  }
  return behind < kTogether;
}

// Collects entries until memory is full, then keeps the first of them. Later elements that don't come before the last
// of these are skipped; if few are wanted, nearly all are. A skipped entry is written and overwritten, which takes less
// time than a branch.
void choose_first(const void* elements, bool is_real, int64_t count, int64_t first, bool descending,
                  OrderEntry* entries) {
  if (first == 0) return;
  const auto* reals = static_cast<const double*>(elements);
  const auto* wholes = static_cast<const int64_t*>(elements);
  const int64_t capacity = entries_to_choose(count, first), turned = descending ? -1 : 0;
  int64_t held = 0, bound = 0;
  const auto keep_first = [&] {
    if (held > first) std::nth_element(entries, entries + first - 1, entries + held, is_before);
    held = std::min(held, first);
  };
  const double* last = nullptr;  // the last of the first entries, if elements are real
  for (int64_t i = 0; i < count;) {
    const int64_t end = std::min(i + kTogether, count);
    if (last != nullptr && i + kTogether == end && !any_before(reals + i, *last, descending)) i = end;
    for (; i < end; ++i) {
      const int64_t key = (is_real ? order_key(reals[i]) : wholes[i]) ^ turned;
      entries[held] = {key, i};
      held += i < capacity || key < bound ? 1 : 0;
      if (held < capacity || i + 1 == count) continue;
      keep_first();
      bound = entries[first - 1].key;
      if (is_real) last = reals + entries[first - 1].number;
    }
  }
  keep_first();
  order_entries(entries, held);
}

}  // namespace nnapi_shim::program
