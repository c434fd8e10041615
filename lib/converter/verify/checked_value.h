// SPDX-License-Identifier: BSD-3-Clause
// One value that NNAPI and TorchScript both compute, with the errors of NNAPI's.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/graph/block_place.h"

namespace nnapi_convert {

struct OperationCheckDefaults {
  static constexpr double kFloatTolerance = 1e-4;
  static constexpr double kQuanta = 1;
  static constexpr size_t kMostRuns = 16;  // greatest number of a segment's runs that one sample compares
};

// The comparison of a value over all samples. An error of float32 is a share of the value's range, an error of a
// quantised tensor is in steps of its scale, an error of integers and bools is a difference.
struct CheckedValue {
  size_t segment = 0;
  size_t operation = 0;                 // number of the last of `operations` in the segment
  std::vector<std::string> operations;  // the operations that compute the value from values compared before
  std::string where;                    // source line; may be empty
  std::string value;                    // name of the original's value
  std::string unit;                     // "of range", "quanta" or "absolute"
  double own_error = 0;                 // error if the operations' inputs are TorchScript's values
  double error = 0;                     // error if NNAPI runs the segment from its beginning
  double tolerance = 0;                 // for own_error
  double lowest = 0, highest = 0;       // range of TorchScript's values
  size_t runs = 0;                      // runs of the segment in all samples: rounds of a loop, calls for some rows
  std::vector<BlockPlace> inside = {};  // the branches and loops around the segment
  bool drifts() const { return !(own_error <= tolerance); }
};

}  // namespace nnapi_convert
