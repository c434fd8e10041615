// SPDX-License-Identifier: BSD-3-Clause
// The release of LibTorch that the program is built on.
#pragma once

#include <torch/version.h>

namespace nnapi_convert {

// True for LibTorch 1.13: what runs in it also runs in Android's PyTorch 1.13.1.
constexpr bool kIsAndroidsRelease = TORCH_VERSION_MAJOR < 2;

}  // namespace nnapi_convert
