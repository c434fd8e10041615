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

#include "lib/converter/verify/checked_value.h"
#include "lib/converter/verify/verify_request.h"

namespace nnapi_convert {

struct OperationCheck {
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
