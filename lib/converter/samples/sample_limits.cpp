// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/sample_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace nnapi_convert {
namespace {

constexpr size_t kMostSamples = 1000;
constexpr size_t kLeastSamples = 50;                // however large samples are
constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // bytes of all samples, where that leaves kLeastSamples

}  // namespace

size_t most_samples(uint64_t bytes_each) {
  const uint64_t fitting = kMostBytes / std::max<uint64_t>(bytes_each, 1);
  return static_cast<size_t>(std::min<uint64_t>(kMostSamples, std::max<uint64_t>(kLeastSamples, fitting)));
}

void warn_of_thinning(size_t used, size_t found, const char* what, Diagnostics& diagnostics) {
  diagnostics.warn(fmt::format("calibration: {} of {} {} are used, evenly chosen: more need memory and change little",
                               used, found, what));
}

}  // namespace nnapi_convert
