// Compares what NNAPI computes on the way with what TorchScript computes there, value by value, and finds the operation
// whose result is the first to be wrong.
//
// The original is converted again as the file was: that tells which operands hold which of the original's values. What
// was fused away (a convolution's result before its activation) and what passes made (transposes) has no counterpart:
// such operations are checked together with those that follow, up to the next value that has one.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/block_place.h"
#include "lib/converter/verify.h"

namespace nnapi_convert {

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

struct OperationCheck {
  struct Defaults {
    static constexpr double kFloatTolerance = 1e-4;
    static constexpr double kQuanta = 1;
    static constexpr size_t kMostRuns = 16;  // of a segment that are compared in one sample
  };
  std::vector<CheckedValue> values;    // in the order in which they are computed
  std::vector<std::string> unchecked;  // operations and runs of segments that aren't compared, and why
  int samples = 0;
  const CheckedValue* first_drift() const;
};

// The request's tolerance is that of float32 values. Throws ConvertError: kBadFile for files that can't be read or
// don't belong together, kVerificationFailed where one fails to run.
OperationCheck check_operations(const VerifyRequest& request);

// A table for people.
std::string to_text(const OperationCheck& check);
nlohmann::json to_json(const OperationCheck& check);

}  // namespace nnapi_convert
