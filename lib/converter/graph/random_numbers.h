// SPDX-License-Identifier: BSD-3-Clause
// Finds the operators that draw random numbers. LibTorch 2 says it of all that may, for example recurrent layers with
// dropout.
#pragma once

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Returns whether the node draws random numbers when it runs. Operators that draw in training only, and are told that
// the model isn't trained, draw none.
inline bool draws_random_numbers(const torch::jit::Node& node) {
  if (!node.isNondeterministic()) return false;
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return true;
  for (const char* name : {"train", "training"}) {
    const auto index = schema->argumentIndexWithName(name);
    if (!index) continue;
    const auto value = torch::jit::toIValue(node.input(static_cast<size_t>(*index)));
    if (value && value->isBool() && !value->toBool()) return false;
  }
  return true;
}

}  // namespace nnapi_convert
