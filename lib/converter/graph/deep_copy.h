// SPDX-License-Identifier: BSD-3-Clause
// Copies values with all that they hold.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace nnapi_convert {

// Copy as LibTorch's deepcopy() does, and keep tensors apart that are views of one memory, of which LibTorch makes one
// tensor. Copies of such views are views of one copied memory. Throw as LibTorch does for objects that can't be copied.
c10::IValue deep_copy(const c10::IValue& value);
torch::jit::Module deep_copy(const torch::jit::Module& module);

}  // namespace nnapi_convert
