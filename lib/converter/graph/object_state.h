// SPDX-License-Identifier: BSD-3-Clause
// Reads the saved state of objects of PyTorch's C++ classes.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>

namespace nnapi_convert {

// Returns the state that the object's class would save; nothing if the class can't save its objects.
std::optional<c10::IValue> saved_state(const c10::IValue& object);

}  // namespace nnapi_convert
