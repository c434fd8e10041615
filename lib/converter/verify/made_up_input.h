// SPDX-License-Identifier: BSD-3-Clause
// Makes up the values of one input, as far as it is known what the model takes there: numbers of rows, masks, words
// that stand for padding, numbers within a range.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/base/fed_range.h"
#include "lib/converter/frontend/input_use.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// Says which integers are made up for inputs that the original doesn't read as indices: 0 to 9; 0 and 1, as in masks; 1
// to 9, as lengths and divisors are.
enum class MadeIntegers { kDigits, kFlags, kPositive };

struct MadeUp {
  MadeIntegers integers = MadeIntegers::kDigits;
  bool has_masks = true;           // masks hide something, and the last samples end in padding
  bool are_floats_shares = false;  // from 0 to 1, as pixels; else of N(0, 1)
  bool has_various_sizes = false;  // open sizes differ from sample to sample: the usual ones, odd ones, larger ones
};

// Says how a sample ends: in words like the others, or in padding.
enum class Ending { kWords, kZeros, kOnes };

// Returns the ending of a sample among `count`: of two or more the last one is padded with zeros, and of four or more
// the last one with ones and the one before with zeros.
Ending ending_of(size_t number, size_t count);

struct MadeInput {
  TensorType type;  // all its sizes are known
  InputUse use = {};
  std::optional<FedRange> fed = {};        // range of the data that quantised the model
  std::optional<at::Tensor> example = {};  // what the file stores for this input
};

at::Tensor make_up(const MadeInput& input, const MadeUp& how, Ending ending, uint64_t seed);

}  // namespace nnapi_convert
