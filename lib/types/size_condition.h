// SPDX-License-Identifier: BSD-3-Clause
// The conditions on a call's open sizes: --input gives a range (64..512), and torch.export states ranges and
// conditions. The converted file checks them at each call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/dim.h"

namespace nnapi_convert {

// The sizes from `least` to `most`.
struct SizeRange {
  int64_t least = 1;
  std::optional<int64_t> most = {};

  bool has_limits() const { return least > 1 || most; }
  // Returns the sizes that are in both ranges; `most` is below `least` if none is.
  SizeRange within(const SizeRange& other) const {
    SizeRange both{std::max(least, other.least), most ? most : other.most};
    if (most && other.most) both.most = std::min(*most, *other.most);
    return both;
  }
  // Returns the size of the range that is nearest to `size`.
  int64_t nearest(int64_t size) const { return std::max(least, std::min(size, most.value_or(size))); }
};

// Returns "64..512", or "64.." without a most.
inline std::string to_text(const SizeRange& range) {
  return std::to_string(range.least) + ".." + (range.most ? std::to_string(*range.most) : "");
}

// Compares two sizes of a call: `left` is equal to `right`, at least `right`, or at most `right`.
struct SizeCondition {
  enum class Kind { kEqual, kAtLeast, kAtMost };
  Kind kind = Kind::kEqual;
  Dim left, right;

  bool holds(const std::function<int64_t(int input, int axis)>& size_of) const {
    const int64_t a = left.evaluate(size_of), b = right.evaluate(size_of);
    return kind == Kind::kEqual ? a == b : kind == Kind::kAtLeast ? a >= b : a <= b;
  }
};
using SizeConditions = std::vector<SizeCondition>;

inline bool all_hold(const SizeConditions& conditions, const std::function<int64_t(int input, int axis)>& size_of) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const SizeCondition& condition) { return condition.holds(size_of); });
}

// Adds the conditions that keep `size` within a range.
inline void add_range(const Dim& size, const SizeRange& range, SizeConditions& conditions) {
  if (range.least > 1) conditions.push_back({SizeCondition::Kind::kAtLeast, size, Dim(range.least)});
  if (range.most) conditions.push_back({SizeCondition::Kind::kAtMost, size, Dim(*range.most)});
}

// Returns the range to which conditions with fixed numbers limit the size.
inline SizeRange range_of(const Dim& size, const SizeConditions& conditions) {
  SizeRange range;
  for (const SizeCondition& condition : conditions) {
    if (condition.left != size || !condition.right.is_fixed()) continue;
    const int64_t limit = condition.right.value();
    if (condition.kind != SizeCondition::Kind::kAtMost) range.least = std::max(range.least, limit);
    if (condition.kind != SizeCondition::Kind::kAtLeast) range.most = std::min(range.most.value_or(limit), limit);
  }
  return range;
}

}  // namespace nnapi_convert
