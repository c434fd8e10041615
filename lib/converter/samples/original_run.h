// Models that PyTorch itself can't run with inputs of the sizes that were asked for.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "lib/converter/infer/infer.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {

// The model is to blame, not what NNAPI takes: no part of it is worth converting.
class OriginalFails : public ConvertError {
 public:
  explicit OriginalFails(const std::string& message) : ConvertError(ExitCode::kNotConvertible, message) {}
};

// Throws OriginalFails where an operator raised an error while types were inferred, and the original raises one, too:
// it is run with three sets of made-up inputs of these types, so that an error by the values of one (a singular matrix,
// weights of 0) does not count. Does nothing where no operator did, or a size is flexible.
void check_original_runs(const LoadedModel& loaded, const NormalisedModel& model, const std::vector<TensorType>& types,
                         const InferredTypes& inferred);

}  // namespace nnapi_convert
