// SPDX-License-Identifier: BSD-3-Clause
// Runs what TorchScript has for an NNAPI model: the original, or a segment's graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/plan/nnapi_part.h"
#include "lib/converter/plan/segment.h"

namespace nnapi_convert {

using TorchRun = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// Runs the whole model as NNAPI computes it: without dynamic quantisation, and with quantised products as they are
// defined. Prints nothing.
TorchRun run_of_whole(const LoadedModel& loaded, const NnapiPart& part);

TorchRun run_of_segment(const Segment& segment);

}  // namespace nnapi_convert
