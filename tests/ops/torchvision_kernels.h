// SPDX-License-Identifier: BSD-3-Clause
// Implements torchvision's roi_align and roi_pool by their definition, so that cases with them run without
// torchvision's library.
#pragma once

namespace nnapi_convert {

// Declares torchvision's operators and registers the kernels, for the rest of the process.
void register_torchvision_kernels();

}  // namespace nnapi_convert
