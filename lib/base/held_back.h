// SPDX-License-Identifier: BSD-3-Clause
// Chooses the samples that are held back from a calibration, to judge it.
#pragma once

#include <cstddef>
#include <vector>

namespace nnapi_convert {

// Holds back one of `every` samples, up to `most` of them.
struct HoldBack {
  size_t every = 5, most = 20;
};

// Returns for each sample whether it is held back; none is if there are fewer than five.
inline std::vector<bool> held_back(size_t count, const HoldBack& rule) {
  constexpr size_t kFewSamples = 5;
  std::vector<bool> result(count, false);
  if (count < kFewSamples) return result;
  size_t held = 0;
  for (size_t i = rule.every / 2; i < count && held < rule.most; i += rule.every, ++held) result[i] = true;
  return result;
}

}  // namespace nnapi_convert
