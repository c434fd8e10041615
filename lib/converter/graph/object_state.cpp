// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/object_state.h"

#include <ATen/core/function.h>
#include <ATen/core/jit_type.h>
#include <torch/custom_class.h>

namespace nnapi_convert {

std::optional<c10::IValue> saved_state(const c10::IValue& object) {
  torch::jit::Function* get_state = object.toObject()->type()->findMethod("__getstate__");
  if (get_state == nullptr) return std::nullopt;
  return (*get_state)({object});
}

}  // namespace nnapi_convert
