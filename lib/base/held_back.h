// SPDX-License-Identifier: BSD-3-Clause
// Which samples judge a calibration, and have no part in it.
#pragma once

#include <cstddef>
#include <vector>

namespace nnapi_convert {

// Every so many samples one is held back, up to `most`.
struct HoldBack {
  size_t every = 5, most = 20;
};

// By sample. Of fewer than five samples none is held back.
inline std::vector<bool> held_back(size_t count, const HoldBack& rule) {
  constexpr size_t kFewSamples = 5;
  std::vector<bool> result(count, false);
  if (count < kFewSamples) return result;
  size_t held = 0;
  for (size_t i = rule.every / 2; i < count && held < rule.most; i += rule.every, ++held) result[i] = true;
  return result;
}

}  // namespace nnapi_convert
