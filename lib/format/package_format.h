// SPDX-License-Identifier: BSD-3-Clause
// Defines version 5 of the model buffer: a package. It holds several buffers of other versions that compute the same
// network, each for other phones, and one blob of weights that they share. schemas/nnapi_buffer.md has the page.
//
// Never change a constant here, as apps on phones would not change with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_convert::package_format {

constexpr int32_t kVersion = 5;
constexpr uint32_t kMostVariants = 16;
constexpr uint32_t kMostTextBytes = 1u << 12;
// In bytes. A buffer's weights begin at a multiple of this in the package's weights, so that they can be mapped alone.
constexpr size_t kWindowAlignment = 1 << 14;

// The words of the header. The first three are as in the other versions.
enum HeaderWord : size_t {
  kVersionWord = 0,
  kWordCount,     // of the whole package
  kChecksum,      // CRC-32 (zip's) of all words; the word of the checksum counts as 0
  kVariantCount,  // 1 to kMostVariants
  kWeightBytesLow,
  kWeightBytesHigh,
  kTextBytes,  // of the variants' names, without padding
  kHeaderWords,
};

// After the header, without a gap: an entry of each variant; the names, NUL-terminated UTF-8 in turn, padded with zeros
// to a whole word; the buffers in the order of the entries, each complete with its header. The order is the order in
// which the user prefers them.
enum EntryWord : size_t {
  kFirstWord = 0,  // of the buffer, in the package
  kBufferWords,
  kWindowLow,  // where the buffer's weights begin in the package's weights; other buffers may share them
  kWindowHigh,
  kWindowBytesLow,
  kWindowBytesHigh,
  kEntryWords,
};

}  // namespace nnapi_convert::package_format
