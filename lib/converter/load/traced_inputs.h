// SPDX-License-Identifier: BSD-3-Clause
// Reads the sizes and dtypes of the example that torch.jit.trace of PyTorch 2 leaves in the file that it saves.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "lib/converter/load/model_archive.h"

namespace nnapi_convert {

// Returns arguments of the method like those of the trace, in lists, tuples and dicts as there; each tensor is a single
// zero that is repeated. Empty where the file says nothing, or something that can't be.
std::vector<c10::IValue> read_traced_inputs(ModelArchive& archive, const std::string& method = "forward");

}  // namespace nnapi_convert
