// SPDX-License-Identifier: BSD-3-Clause
// Limits how many samples calibration uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/base/diagnostics.h"

namespace nnapi_convert {

// Returns the most samples of this size that are used.
size_t most_samples(uint64_t bytes_each);

void warn_of_thinning(size_t used, size_t found, const char* what, Diagnostics& diagnostics);

// Keeps `most` elements of `all`, spread evenly.
template <typename Each>
void thin_out(std::vector<Each>& all, size_t most) {
  if (all.size() <= most) return;
  std::vector<Each> kept;
  for (size_t i = 0; i < most; ++i) kept.push_back(std::move(all[i * all.size() / most]));
  all = std::move(kept);
}

}  // namespace nnapi_convert
