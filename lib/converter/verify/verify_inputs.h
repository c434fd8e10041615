// SPDX-License-Identifier: BSD-3-Clause
// Makes the inputs of a comparison.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <vector>

#include "lib/converter/frontend/arguments.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/verify/verify_request.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {

using Tensors = std::vector<at::Tensor>;
using Values = std::vector<c10::IValue>;  // the leaves of forward's arguments

// Loads an original without its warnings. With a name, that method is in the place of forward.
LoadedModel load_method(const std::string& path, const std::string& method);

// Appends the tensors of a result, in the order of its tuples and lists.
void flatten(const c10::IValue& value, Tensors& tensors);

// Returns the results with numbers as flatten() gives them. Without PyTorch, a number is a tensor of rank 0 of its own
// dtype; only the original's results tell it from other tensors.
Tensors with_numbers_of(const Tensors& original, Tensors results);

// Returns the arguments of the converted model's forward.
ForwardArguments arguments_of(const ConvertedFile& converted);

// What integers are that are made up and that the original doesn't read as indices.
// 0 to 9; 0 and 1, as in masks; 1 to 9, as lengths and divisors are.
enum class MadeIntegers { kDigits, kFlags, kPositive };

// `count` samples of what the converted module takes, seeded; or those of the request's file. What the original reads
// as indices is within its tables. Throws ConvertError (kBadFile) for a file of other arguments.
std::vector<Values> make_samples(const VerifyRequest& request, const LoadedModel& original,
                                 const ConvertedFile& converted, const ForwardArguments& arguments, int count,
                                 MadeIntegers integers = MadeIntegers::kDigits);

// Returns for each of forward's tensors whether the original reads it as indices.
std::vector<bool> indices_of(const VerifyRequest& request, const LoadedModel& original, const Metadata& metadata);

// Replaces each tensor among the values by change(number, tensor); tensors are numbered from 0.
template <typename Change>
Values with_tensors(Values values, const Change& change) {
  size_t number = 0;
  for (c10::IValue& value : values) {
    if (value.isTensor()) value = change(number++, value.toTensor());
  }
  return values;
}

// Returns a sample with the dtypes of the original's inputs.
Values with_original_dtypes(const Values& values, const Metadata& metadata);

}  // namespace nnapi_convert
