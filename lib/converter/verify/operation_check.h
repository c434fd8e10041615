// SPDX-License-Identifier: BSD-3-Clause
// Compares the intermediate values of NNAPI and TorchScript one by one, and finds the first operation with a wrong
// result.
//
// The original is converted again with the file's options, to know which operand holds which of the original's values.
// Values that were fused away (a convolution's result before its activation) and operands that passes made (transposes)
// have no counterpart: their operations are checked together with the next operations, up to a value that has one.
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
  std::vector<std::string> unchecked;  // operations and runs of segments that are not compared, with reasons
  int samples = 0;
  const CheckedValue* first_drift() const;
};

// Runs the check. The request's tolerance is for float32 values. Throws ConvertError: kBadFile for files that can't be
// read or don't belong together, kVerificationFailed if a model fails to run.
OperationCheck check_operations(const VerifyRequest& request);

// Returns a table for the terminal.
std::string to_text(const OperationCheck& check);
nlohmann::json to_json(const OperationCheck& check);

}  // namespace nnapi_convert
