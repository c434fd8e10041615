// SPDX-License-Identifier: BSD-3-Clause
// Computes permutations of axes: result axis i is source axis order[i].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_convert::nnapi {

constexpr size_t kMaxMoveRank = 4;  // the highest rank that TRANSPOSE takes

inline const std::vector<int64_t> kToNhwc = {0, 2, 3, 1};
inline const std::vector<int64_t> kToNchw = {0, 3, 1, 2};

template <typename T>
std::vector<T> permute(const std::vector<T>& values, const std::vector<int64_t>& order) {
  std::vector<T> result;
  result.reserve(order.size());
  for (const int64_t axis : order) result.push_back(values[static_cast<size_t>(axis)]);
  return result;
}

inline std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

}  // namespace nnapi_convert::nnapi
