// SPDX-License-Identifier: BSD-3-Clause
// Names the axis along which top-1 looks for the largest element.
#pragma once

#include <cstddef>

namespace nnapi_convert {

// Returns the axis of the classes in PyTorch's order: the channels of a tensor of rank 4 (pictures), else the last
// axis. `rank` is 1 or more.
inline size_t class_axis(size_t rank) {
  constexpr size_t kPictureRank = 4, kChannels = 1;
  return rank == kPictureRank ? kChannels : rank - 1;
}

}  // namespace nnapi_convert
