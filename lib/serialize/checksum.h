// SPDX-License-Identifier: BSD-3-Clause
// Computes the CRC-32 that zip files have, of bytes that come in parts.
#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>

namespace nnapi_convert {

// Returns the checksum of the bytes before, whose checksum is `checksum` (0: none), followed by these bytes. Libdeflate
// begins anew at a null pointer, which tensors without elements have.
inline uint32_t add_to_checksum(uint32_t checksum, const void* bytes, size_t size) {
  return size == 0 ? checksum : libdeflate_crc32(checksum, bytes, size);
}

}  // namespace nnapi_convert
