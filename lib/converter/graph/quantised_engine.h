// LibTorch's kernels for quantised operators, of which builds have different ones: Debian's has no QNNPACK on arm64.
#pragma once

#include <ATen/core/jit_type.h>
#include <c10/core/QEngine.h>

namespace nnapi_convert {

bool has_quantised_engine(at::QEngine engine);

// The engine that mobile builds use, which also reads weights packed for the others. Where this LibTorch lacks it, its
// own choice stays; reading a model with packed weights may then fail.
void choose_quantised_engine();

// Takes oneDNN if the class has packed weights of a 3-D convolution, which QNNPACK packs and can't unpack. To be called
// before they are packed.
void choose_quantised_engine_for(const c10::ClassType& type);

}  // namespace nnapi_convert
