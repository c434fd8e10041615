// SPDX-License-Identifier: BSD-3-Clause
// Compares the results of two modules.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace nnapi_convert {

struct Tolerance {
  double of_range;         // of max - min of a float reference
  double quanta;           // of quantised tensors
  double least_range = 0;  // a smaller range counts as this one
};

// Returns an empty text if both are the same tree of tensors with the same shapes, dtypes, quantisation and values,
// else one sentence.
std::string difference(const c10::IValue& expected, const c10::IValue& found, const Tolerance& tolerance);

// Returns a sentence if a tensor of the tree is the same for two different inputs, or has the same value everywhere.
std::string sameness(const c10::IValue& one, const c10::IValue& other);

}  // namespace nnapi_convert
