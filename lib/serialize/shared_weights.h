// SPDX-License-Identifier: BSD-3-Clause
// Stores weights that several buffers of a file have in common only once.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/serialize/shim_buffer_writer.h"

namespace nnapi_convert {

// Groups buffers that have equal weights of some size, directly or by way of others. All buffers of a group get the
// weights of all of them, each once: the first buffer keeps them, the others have only their offsets and weight_bytes.
// Returns the numbers of each group's buffers, in ascending order; a buffer that shares nothing is a group of its own
// and stays as it is.
std::vector<std::vector<size_t>> share_weights(const std::vector<ShimBuffer*>& buffers);

}  // namespace nnapi_convert
