// SPDX-License-Identifier: BSD-3-Clause
// Defines the samples at the end of a model buffer of version 4 and later: inputs, and the outputs that TorchScript
// gave for them. The shim runs them on a device before it trusts the device. The generator of inputs is here, too, as
// the converter and the shim have to make the same numbers.
//
// Never change a constant or the generator: apps on phones would not change with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_convert::buffer_samples {

constexpr uint32_t kMaxSamples = 4;
constexpr uint64_t kMostInputBytes = uint64_t{1} << 26;  // of an input that is made: a reader refuses larger ones

// The section: the number of samples (1 to kMaxSamples; from version 6 on maybe 0), then each sample:
//   words     of this sample, this word included
//   sizes     of all arguments of forward, in PyTorch's order; their ranks are those of the section of arguments
//   inputs    of each input of the main model: an InputKind, then
//               kStored:  its elements in NNAPI's order, padded with zeros to a whole word
//               kUniform: kUniformWords
//   outputs   of each output of the main model: kOutputWords, then the elements that are kept, those of the numbers 0,
//             step, 2 * step and so on in NNAPI's order, padded with zeros to a whole word
enum class InputKind : int32_t {
  kStored = 0,
  kUniform = 1,  // element i is uniform_float() or uniform_integer()
};

// Lowest and highest are the bits of floats for TENSOR_FLOAT32, else integers.
enum UniformWord : size_t { kSeed = 0, kLowestInput, kHighestInput, kUniformWords };

// All but the step are bits of floats. Differences and values are in the unit of the elements: those of quantised types
// are counted in steps of the scale.
enum OutputWord : size_t {
  kMostDifference = 0,  // that one element may have
  kRootMeanSquare,      // that all kept elements together may have
  kLowestOutput,        // of all elements, also of those that are not kept
  kHighestOutput,
  kStep,
  kOutputWords,
};

// Returns 32 random bits for element `index`.
inline uint32_t random_bits(uint32_t seed, uint64_t index) {
  uint64_t bits = (uint64_t{seed} << 32) + (index + 1) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return static_cast<uint32_t>((bits ^ (bits >> 31)) >> 32);
}

// The product of two numbers of 24 bits is exact in a double: compilers that fuse it with the sum get the same number.
inline float uniform_float(uint32_t seed, uint64_t index, float lowest, float highest) {
  const float span = highest - lowest;
  const double part = static_cast<double>(random_bits(seed, index) >> 8) / (1 << 24);
  return static_cast<float>(static_cast<double>(span) * part + static_cast<double>(lowest));
}

// `highest` is included and not less than `lowest`.
inline int32_t uniform_integer(uint32_t seed, uint64_t index, int32_t lowest, int32_t highest) {
  const uint64_t count = static_cast<uint64_t>(int64_t{highest} - lowest) + 1;
  return static_cast<int32_t>(lowest + static_cast<int64_t>(random_bits(seed, index) % count));
}

}  // namespace nnapi_convert::buffer_samples
