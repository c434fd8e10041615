// LibTorch's kernels for quantised operators, of which builds have different ones: Debian's has no QNNPACK on arm64.
#pragma once

#include <c10/core/QEngine.h>

namespace nnapi_convert {

bool has_quantised_engine(at::QEngine engine);

// The engine that mobile builds use, which also reads weights packed for the others. Where this LibTorch lacks it, its
// own choice stays; reading a model with packed weights may then fail.
void choose_quantised_engine();

}  // namespace nnapi_convert
