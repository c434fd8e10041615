// SPDX-License-Identifier: BSD-3-Clause
// The range of the values that samples give an input: a wrong normalisation of pictures shows in it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace nnapi_convert {

// The smallest and the largest value over all samples.
struct FedRange {
  std::string input;  // its name
  double lowest = 0, highest = 0;
};

// Returns one line: "input x is fed -2.118 to 2.64".
inline std::string to_text(const FedRange& range) {
  return fmt::format("input {} is fed {:.4g} to {:.4g}\n", range.input, range.lowest, range.highest);
}

}  // namespace nnapi_convert
