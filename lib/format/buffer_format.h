// SPDX-License-Identifier: BSD-3-Clause
// Defines version 1 of the compact model buffer, which PyTorch's stock loader (torch.classes._nnapi.Compilation) reads.
//
// schemas/nnapi_buffer.md describes it with an example. Never change version 1, as loaders on phones would not change
// with it: add a version, its page and its frozen sample.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_convert::buffer_format {

constexpr int32_t kVersion = 1;
constexpr uint32_t kMaxCount = 1u << 24;  // every count of the header is below this

// The buffer consists of 32-bit little-endian words.
constexpr size_t kHeaderWords = 6;     // version, operands, values, operations, inputs, outputs
constexpr size_t kOperandWords = 4;    // type, dimension count, scale (float bits), zero point
constexpr size_t kValueWords = 3;      // operand, source type, length in bytes
constexpr size_t kOperationWords = 3;  // code, input count, output count

enum class ValueSource : int32_t {
  kImmediate = 0,       // the bytes follow in the value data, padded with zeros to a whole word
  kNumberedBuffer = 2,  // three words follow: buffer number, offset in bytes, length in bytes
};
constexpr size_t kNumberedBufferWords = 3;

}  // namespace nnapi_convert::buffer_format
