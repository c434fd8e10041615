// torch.classes.nnapi_convert.Compilation: what modules that nnapi-convert wrote with --runtime shim call. The one part
// of the shim that knows Torch.
#pragma once

#include <ATen/core/ivalue.h>

namespace nnapi_shim {

// A compilation as a module holds it, of a buffer (int32) and its weights (uint8, contiguous). Throws c10::Error for a
// damaged buffer.
c10::IValue make_compilation(const at::Tensor& words, const at::Tensor& weights);

// The two tensors of a compilation.
struct CompilationTensors {
  at::Tensor words, weights;
};
CompilationTensors tensors_of(const c10::IValue& compilation);

}  // namespace nnapi_shim
