// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/made_up_input.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <limits>

#include "lib/converter/frontend/sample_inputs.h"

namespace nnapi_convert {
namespace {

constexpr int64_t kNoFlexibleSize = 1;  // all sizes are known

std::vector<int64_t> sizes_of_input(const TensorType& type) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : type.dims) sizes.push_back(dim.value());
  return sizes;
}

// Marks the last quarter of the last axis. Marks nothing on an axis of one element, which would be hidden as a whole.
at::Tensor at_the_end(const std::vector<int64_t>& sizes) {
  at::Tensor result = at::zeros(sizes, at::TensorOptions(at::kBool));
  if (sizes.empty() || sizes.back() < 2) return result;
  const int64_t padded = std::max<int64_t>(1, sizes.back() / 4);
  result.narrow(-1, sizes.back() - padded, padded).fill_(true);
  return result;
}

// Marks holes at random, but none at the beginning of a row.
at::Tensor holes(const std::vector<int64_t>& sizes, uint64_t seed) {
  constexpr double kShare = 0.3;
  if (sizes.empty()) return at_the_end(sizes);
  at::Generator generator = at::detail::createCPUGenerator(seed);
  at::Tensor result = at::rand(sizes, generator, at::TensorOptions(at::kFloat)).lt(kShare);
  if (sizes.back() > 0) result.select(-1, 0).fill_(false);
  return result;
}

bool can_be_mask(const MadeInput& input) {
  const bool is_float = c10::isFloatingType(input.type.dtype);
  return !input.type.is_quantized() && (input.use.mask.hiding_flag || (is_float && input.use.mask.is_added));
}

at::Tensor made_mask(const MadeInput& input, Ending ending, uint64_t seed) {
  const std::vector<int64_t> sizes = sizes_of_input(input.type);
  const at::Tensor hidden = ending == Ending::kWords ? holes(sizes, seed) : at_the_end(sizes);
  const at::ScalarType dtype = input.type.dtype;
  if (c10::isFloatingType(dtype) && input.use.mask.is_added) {
    constexpr float kInfinite = std::numeric_limits<float>::infinity();
    return at::zeros(sizes, at::TensorOptions(at::kFloat)).masked_fill(hidden, -kInfinite).to(dtype);
  }
  return (*input.use.mask.hiding_flag ? hidden : hidden.logical_not()).to(dtype);
}

// Returns the word that stands for padding: 0 or 1 as most tokenisers have it, or another one that the model looks for.
int64_t padding_word(const InputUse& use, Ending ending) {
  const IndexRange& range = *use.range;
  int64_t word = ending == Ending::kOnes ? 1 : 0;
  for (const int64_t compared : use.compared) {
    const bool is_other = compared != 0 && compared != 1 && compared >= range.lowest && compared <= range.highest;
    if (is_other && ending == Ending::kOnes) word = compared;
  }
  return std::clamp(word, range.lowest, range.highest);
}

at::Tensor made_indices(const MadeInput& input, const MadeUp& how, Ending ending, uint64_t seed) {
  const at::Tensor words = random_indices(input.type, seed, kNoFlexibleSize, *input.use.range);
  const bool is_padded = how.has_masks && ending != Ending::kWords && input.use.is_word() && !words.is_quantized();
  if (!is_padded) return words;
  return words.masked_fill(at_the_end(words.sizes().vec()), padding_word(input.use, ending));
}

at::Tensor made_integers(const at::Tensor& digits, MadeIntegers integers) {
  if (integers == MadeIntegers::kFlags) return digits.remainder(2);
  return integers == MadeIntegers::kPositive ? digits.remainder(9).add(1) : digits;
}

at::Tensor made_floats(const MadeInput& input, const MadeUp& how, uint64_t seed) {
  const double lowest = input.fed ? input.fed->lowest : 0, highest = input.fed ? input.fed->highest : 1;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const at::Tensor shares = at::rand(sizes_of_input(input.type), generator, at::TensorOptions(at::kFloat));
  const at::Tensor values =
      input.fed || how.are_floats_shares ? shares.mul(highest - lowest).add(lowest) : at::Tensor();
  if (!values.defined()) return random_tensor(input.type, seed, kNoFlexibleSize);
  return input.type.is_quantized() ? to_interface(values, input.type) : values.to(input.type.dtype);
}

}  // namespace

Ending ending_of(size_t number, size_t count) {
  constexpr size_t kFewest = 2, kBoth = 4;
  if (count < kFewest) return Ending::kWords;
  if (number + 1 == count) return count < kBoth ? Ending::kZeros : Ending::kOnes;
  return number + 2 == count && count >= kBoth ? Ending::kZeros : Ending::kWords;
}

at::Tensor make_up(const MadeInput& input, const MadeUp& how, Ending ending, uint64_t seed) {
  if (input.use.range) return made_indices(input, how, ending, seed);
  if (how.has_masks && can_be_mask(input)) return made_mask(input, ending, seed);
  const at::ScalarType dtype = input.type.dtype;
  if (c10::isFloatingType(dtype) || input.type.is_quantized()) return made_floats(input, how, seed);
  const bool is_integer = c10::isIntegralType(dtype, false) && dtype != at::kByte;
  // Takes the file's example for integers whose meaning isn't known: a random length may fit no other input.
  if (is_integer && input.example) return *input.example;
  const at::Tensor made = random_tensor(input.type, seed, kNoFlexibleSize);
  return is_integer ? made_integers(made, how.integers) : made;
}

}  // namespace nnapi_convert
