// SPDX-License-Identifier: BSD-3-Clause
// Defines versions 2, 3, 4, 6 and 7 of the model buffer, which the shim (lib/shim) reads. schemas/nnapi_buffer.md has
// an example.
//
// The buffer consists of 32-bit little-endian words; a 64-bit number takes two words, the low one first. Never change
// a constant here, as apps on phones would not change with it: add a version, its page and its frozen sample.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_convert::buffer_format_v2 {

constexpr int32_t kVersion = 2;
constexpr int32_t kFloat16Version = 3;  // version 2 with values of the source kFloat16Weight
constexpr int32_t kSamplesVersion = 4;  // version 3 with samples at its end (buffer_samples.h)
constexpr int32_t kInt8Version = 6;     // version 4, maybe of 0 samples, with values of the source kInt8Weight

constexpr int32_t kConditionsVersion = 7;  // version 6 with conditions on sizes at its end
constexpr int32_t kNewestVersion = kConditionsVersion;

// Returns whether a buffer of this version is one of this page's: version 5 is a package (package_format.h).
constexpr bool is_buffer_version(int32_t version) {
  return (version >= kVersion && version <= kSamplesVersion) || version == kInt8Version ||
         version == kConditionsVersion;
}

constexpr uint32_t kMaxCount = 1u << 24;    // every count is below this
constexpr uint32_t kMaxRank = 8;            // of an argument and of an operand
constexpr size_t kWeightAlignment = 64;     // bytes; of each weight within the weights
constexpr size_t kPageAlignment = 1 << 14;  // bytes; of the weights within the archive, so that they can be mapped

// The words of the header.
enum HeaderWord : size_t {
  kVersionWord = 0,
  kWordCount,     // of the whole buffer
  kChecksum,      // CRC-32 (zip's) of all words; the word of the checksum counts as 0
  kFeatureLevel,  // the lowest level that runs the model
  kPreference,    // lib/format/nnapi_codes.h, PreferenceCode
  kFlags,
  kWeightBytesLow,
  kWeightBytesHigh,
  kWeightChecksum,  // CRC-32 of the weights
  kArgumentCount,   // of the module's forward
  kExpressionCount,
  kPatchCount,
  kModelCount,  // the first model is the main one, the others are subgraphs
  kTextBytes,   // of names and source lines, without padding; 0: stripped
  kHeaderWords,
};
constexpr uint32_t kRelaxFp16 = 1;  // in the word of flags; no other bit has a meaning

// Sections after the header, without a gap:
//   arguments    each its rank, then its sizes (0: flexible), in PyTorch's order
//   expressions  kExpressionWords each
//   patches      kPatchWords each, in ascending order of words
//   models       see below, one after the other
//   text         only if kTextBytes is not 0: for each model, a word for each operand (offset of its name), two for
//   each
//                operation (offsets of its name and of its source line); then the bytes, NUL-terminated UTF-8, padded
//                with zeros to a whole word. Offset 0 is the empty string.
//   samples      from version 4 on: lib/format/buffer_samples.h
//   conditions   from version 7 on: their number, 1 to kMaxConditions; each kConditionWords, then its text: two
//                NUL-terminated UTF-8 strings, what is compared ("input x: size 1:") and what is needed ("64 or more"),
//                padded with zeros to a whole word
constexpr size_t kExpressionWords = 3;  // kind, a, b
constexpr size_t kPatchWords = 2;       // position of the word in the buffer, number of the expression

constexpr size_t kConditionWords = 4;  // ConditionKind, expressions of the left and the right side, bytes of its text
constexpr uint32_t kMaxConditions = 1024;
constexpr uint32_t kMaxConditionText = 4096;  // bytes

// A call breaks the condition unless the left side is ...
enum class ConditionKind : int32_t {
  kEqual = 0,    // equal to the right one
  kAtLeast = 1,  // the right one or more
  kAtMost = 2,   // the right one or less
};

// An expression refers only to earlier expressions. Values are 64-bit.
enum class ExpressionKind : int32_t {
  kNumber = 0,    // a: low word, b: high word
  kSize = 1,      // size of axis b of argument a
  kSum = 2,       // of expressions a and b
  kProduct = 3,   // of expressions a and b
  kFloorDiv = 4,  // of expression a by expression b, which is more than 0
};

// A model: kModelWords of counts, then operands, values, operations, then the sections listed below them.
constexpr size_t kModelWords = 5;  // operands, values, operations, inputs, outputs
constexpr size_t kOperandWords =
    6;                             // type, rank, scale (float bits), zero point, channel axis, number of channel scales
constexpr size_t kValueWords = 6;  // operand, source, offset (2 words), length in bytes (2 words)
constexpr size_t kOperationWords = 3;  // code, input count, output count
//   dimensions      of each operand in turn (0 and patched: flexible)
//   channel scales  float bits, of each operand in turn
//   value data      of the immediate values in turn, each padded with zeros to a whole word
//   arguments       of each operation its inputs, then its outputs
//   inputs          kInputWords each
//   outputs         kOutputWords each
constexpr size_t kInputWords = 3;   // operand, argument of forward (-1 in subgraphs), Layout
constexpr size_t kOutputWords = 2;  // operand, Layout

enum class ValueSource : int32_t {
  kImmediate = 0,  // offset 0; the bytes are in the value data
  kOmitted = 1,    // an optional input that is left out; offset and length 0
  kWeight = 2,     // a range of the weights; the offset is a multiple of kWeightAlignment
  kModel = 3,      // offset: number of the subgraph, more than this model's own; length 0
  // From version 3 on: a range of the weights with float16 numbers, the value of a TENSOR_FLOAT32. The offset is as of
  // kWeight, the length that of the float16 numbers.
  kFloat16Weight = 4,
  // From version 6 on: a range of the weights with int8 numbers, the value of a TENSOR_FLOAT32. The operand has a
  // channel axis, and a scale for each of the axis's elements: a number is the integer times its channel's scale. No
  // other TENSOR_FLOAT32 has a channel axis. The offset is as of kWeight.
  kInt8Weight = 5,
};

// The order of axes of NNAPI's tensor, compared with the caller's.
enum class Layout : int32_t {
  kSame = 0,
  kNhwc = 1,  // NHWC; the caller has NCHW
};

// The archive's extra file that names the records of the buffer and the weights, one a line.
constexpr const char* kIndexRecord = "extra/nnapi_shim.index";

}  // namespace nnapi_convert::buffer_format_v2
