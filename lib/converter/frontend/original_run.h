// SPDX-License-Identifier: BSD-3-Clause
// Finds models that PyTorch itself can't run with inputs of the requested sizes.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "lib/converter/frontend/infer.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {

// Thrown if the original model fails in PyTorch, so that no part of it is worth converting.
class OriginalFails : public ConvertError {
 public:
  explicit OriginalFails(const std::string& message) : ConvertError(ExitCode::kNotConvertible, message) {}
};

// Throws OriginalFails if an operator raised an error in inference and the original raises one, too. Runs the original
// with several made-up inputs of these types, so that an error that depends on values (a singular matrix, weights of 0,
// a length that isn't an input's size) doesn't count. Does nothing if no operator raised an error, or if a size is
// flexible.
void check_original_runs(const LoadedModel& loaded, const NormalisedModel& model, const std::vector<TensorType>& types,
                         const InferredTypes& inferred);

}  // namespace nnapi_convert
