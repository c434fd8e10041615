// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 as zip files have it, of bytes that come in parts.
#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>

namespace nnapi_convert {

// The checksum of what `checksum` is of (0: nothing), and of these bytes behind it. Libdeflate begins anew at a null
// pointer, which tensors without elements have.
inline uint32_t add_to_checksum(uint32_t checksum, const void* bytes, size_t size) {
  return size == 0 ? checksum : libdeflate_crc32(checksum, bytes, size);
}

}  // namespace nnapi_convert
