// SPDX-License-Identifier: BSD-3-Clause
// Copies tensors with their axes in another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_convert::nnapi {

// Returns false if permuting the axes of a contiguous tensor of this shape leaves its bytes as they are.
bool moves_elements(const std::vector<int64_t>& shape, const std::vector<int64_t>& order);

// Copies a contiguous tensor of this shape, with elements of `width` bytes (1 or 4), so that result axis i is source
// axis order[i]. No size may be 0; source and result must not overlap.
void copy_permuted(const uint8_t* source, uint8_t* result, size_t width, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& order);

}  // namespace nnapi_convert::nnapi
