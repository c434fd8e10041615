// Objects of PyTorch's C++ classes, as they are saved.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>

namespace nnapi_convert {

// What the class of an object saves of it; nothing for classes that can't be saved.
std::optional<c10::IValue> saved_state(const c10::IValue& object);

}  // namespace nnapi_convert
