// SPDX-License-Identifier: BSD-3-Clause
// Builds models of one operation and asks a device whether it supports them.
#pragma once

#include <string>

#include "lib/shim/nnapi_library.h"
#include "tools/nnapi-probe/grid.h"

namespace nnapi_probe {

enum class Answer { kRefused, kAccepted, kNotAsked };

// Builds the model of a point and asks the device whether it supports the operation. Returns kNotAsked if NNAPI itself
// refuses the model or the question; `reason` then names the function and its result code.
Answer ask(const nnapi_shim::NnapiLibrary& nnapi, const ANeuralNetworksDevice* device, const OperationGrid& grid,
           const Point& point, std::string* reason);

}  // namespace nnapi_probe
