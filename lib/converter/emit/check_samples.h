// SPDX-License-Identifier: BSD-3-Clause
// Makes the samples by which a file for the shim checks the device that runs it: inputs of an NNAPI model, and the
// outputs that TorchScript gives for them.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/serialize/buffer_sample.h"
#include "lib/serialize/emitted_class.h"
#include "lib/types/options.h"

namespace nnapi_convert {

struct CheckSamplesRequest {
  const PlannedModel& planned;
  Frontend& frontend;
  const ConvertOptions& options;
  BundledInputs data;          // inputs of forward; may be empty: seeded numbers are taken then
  bool is_calibrated = false;  // the NNAPI model is quantised by data, and TorchScript's is not
};

// Returns for each segment of the plan options.check_samples samples, or fewer, so that they take at most a hundredth
// of the file. Warns of segments without any, with the reason. For a model that is quantised by data or has int8
// weights the host's NNAPI gives the outputs.
std::vector<std::vector<BufferSample>> check_samples(const CheckSamplesRequest& request, Diagnostics& diagnostics);

}  // namespace nnapi_convert
