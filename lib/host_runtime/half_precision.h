// SPDX-License-Identifier: BSD-3-Clause
// Rounds float results to half precision, as a device that computes in float16 does.
#pragma once

#include <optional>

#include "lib/host_runtime/model.h"
#include "lib/host_runtime/trace.h"

namespace nnapi_convert::host {

// Returns whether NNAPI_HOST_RELAX is fp16 and the model allows float16.
bool rounds_to_half(const Model& model);

// Replaces a float32 tensor by its rounded form. Returns the first finite element that half precision can't hold, if
// any.
std::optional<Overflow> round_to_half(at::Tensor& tensor);

}  // namespace nnapi_convert::host
