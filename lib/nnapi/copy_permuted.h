// Copies tensors with their axes in another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_convert::nnapi {

// False if a contiguous tensor of that shape has the same bytes with its axes in that order.
bool moves_elements(const std::vector<int64_t>& shape, const std::vector<int64_t>& order);

// Copies the elements, of `width` bytes (1 or 4), of a contiguous tensor of that shape so that result axis i is source
// axis order[i]. No size is 0; the memories don't overlap.
void copy_permuted(const uint8_t* source, uint8_t* result, size_t width, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& order);

}  // namespace nnapi_convert::nnapi
