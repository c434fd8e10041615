// Float results as a device in half precision would keep them.
#pragma once

#include <optional>

#include "lib/host_runtime/model.h"
#include "lib/host_runtime/trace.h"

namespace nnapi_convert::host {

// NNAPI_HOST_RELAX=fp16, for a model that allows it.
bool rounds_to_half(const Model& model);

// Rounds a float32 tensor; the first element that was finite and is not any more.
std::optional<Overflow> round_to_half(at::Tensor& tensor);

}  // namespace nnapi_convert::host
