// Compares what two modules return.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace nnapi_convert {

struct Tolerance {
  double of_range;         // of max - min of a float reference
  double quanta;           // of quantised tensors
  double least_range = 0;  // what a smaller range counts as
};

// Nothing if both are the same tree of tensors with the same shapes, dtypes, quantisation and values, else one
// sentence.
std::string difference(const c10::IValue& expected, const c10::IValue& found, const Tolerance& tolerance);

// Nothing unless a tensor of the tree is the same in both (of two different inputs), or the same everywhere.
std::string sameness(const c10::IValue& one, const c10::IValue& other);

}  // namespace nnapi_convert
