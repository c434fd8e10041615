// SPDX-License-Identifier: BSD-3-Clause
// Measures how far a float model's results are from those that it gives in float64: a deep net may amplify float32's
// rounding until no two machines agree. The converted model can be no nearer than that.
#pragma once

#include <optional>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/verify/verification.h"
#include "lib/converter/verify/verify_inputs.h"

namespace nnapi_convert {

// The results of both models on each sample, in the order of the runs.
struct KeptResults {
  std::vector<InputTuple> inputs;  // the original's inputs
  std::vector<Tensors> original, converted;
};

// Runs a copy of the original in float64 on the same inputs. Returns nothing where PyTorch can't run it so.
std::optional<OwnRounding> own_rounding(const LoadedModel& original, const KeptResults& kept);

}  // namespace nnapi_convert
