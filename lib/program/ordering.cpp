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
  // Below zero the order of the magnitudes is turned.
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

// Collects entries until memory is full, and goes on with the first of them: later values that are not before the last
// of these are passed over, which are nearly all where few are wanted.
void choose_first(const double* values, int64_t count, int64_t first, bool descending, OrderEntry* entries) {
  const int64_t capacity = entries_to_choose(count, first);
  int64_t held = 0;
  const double* last = nullptr;  // of the first ones, as soon as there are as many
  const auto is_behind = [&](double value) {
    return last != nullptr && (descending ? value <= *last : value >= *last);
  };
  for (int64_t i = 0; i < count && first > 0; ++i) {
    if (is_behind(values[i])) continue;
    if (held == capacity) {
      order_entries(entries, held);
      held = first;
      last = values + entries[first - 1].number;
      if (is_behind(values[i])) continue;
    }
    const int64_t key = order_key(values[i]);
    entries[held++] = {descending ? ~key : key, i};
  }
  order_entries(entries, held);
}

}  // namespace nnapi_shim::program
