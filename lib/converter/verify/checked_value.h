// One result of an operation that is compared with TorchScript's.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/graph/block_place.h"

namespace nnapi_convert {

struct OperationCheckDefaults {
  static constexpr double kFloatTolerance = 1e-4;
  static constexpr double kQuanta = 1;
  static constexpr size_t kMostRuns = 16;  // of a segment that are compared in one sample
};

// A value that both sides have, over all samples. Errors of float32 are shares of the value's range, those of quantised
// tensors steps of their scale, those of integers and bools differences.
struct CheckedValue {
  size_t segment = 0;
  size_t operation = 0;                 // number in the segment of the last of `operations`
  std::vector<std::string> operations;  // that lead here from values that both sides have
  std::string where;                    // source line; may be empty
  std::string value;                    // name of the original's value
  std::string unit;                     // "of range", "quanta" or "absolute"
  double own_error = 0;                 // with TorchScript's values as the operations' inputs
  double error = 0;                     // with NNAPI's own from the segment's beginning
  double tolerance = 0;                 // for own_error
  double lowest = 0, highest = 0;       // of the original
  size_t runs = 0;                      // of the segment, in all samples: rounds of a loop, calls for some rows
  std::vector<BlockPlace> inside = {};  // the branches and loops that the segment is in
  bool drifts() const { return !(own_error <= tolerance); }
};

}  // namespace nnapi_convert
