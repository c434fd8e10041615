// SPDX-License-Identifier: BSD-3-Clause
// Registers torch.classes.nnapi_convert.Compilation, the class that modules written with --runtime shim call. With
// direct_call.h, it is the only part of the shim that uses PyTorch.
#pragma once

#include <ATen/core/ivalue.h>

namespace nnapi_shim {

// Makes the Compilation object of a module, from a buffer (int32) and its weights (uint8, contiguous). Throws
// c10::Error for a damaged buffer.
c10::IValue make_compilation(const at::Tensor& words, const at::Tensor& weights);

// The two tensors of a Compilation object.
struct CompilationTensors {
  at::Tensor words, weights;
};
CompilationTensors tensors_of(const c10::IValue& compilation);

}  // namespace nnapi_shim
