// SPDX-License-Identifier: BSD-3-Clause
// Makes the inputs of a comparison.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "lib/converter/frontend/arguments.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/verify/made_up_input.h"
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

// Makes the samples of a comparison, of what the converted module takes: those of the request's file, or made up,
// seeded, by what the original takes its inputs for (made_up_input.h). References to all arguments are kept.
class SampleMaker {
 public:
  // Throws ConvertError (kUsage) for a request that fits no argument of the converted model.
  SampleMaker(const VerifyRequest& request, const LoadedModel& original, const ConvertedFile& converted,
              const ForwardArguments& arguments);

  bool is_made_up() const { return request_.inputs_file.empty(); }
  // True if an input is of integers that MadeUp chooses.
  bool has_integers() const;
  bool has_masks() const;
  bool has_floats() const;
  // True if an input has open sizes of which the request gives none.
  bool has_open_sizes() const;

  // Returns the samples: those of the file, or `count` made-up ones. Throws ConvertError (kBadFile) for a file of other
  // arguments.
  std::vector<Values> samples(int count, const MadeUp& how) const;

  // Returns for each of forward's tensors whether the original reads it as indices.
  std::vector<bool> takes_indices() const;

 private:
  std::vector<Values> given() const;
  std::vector<TensorType> types_of_sample(size_t number) const;

  const VerifyRequest& request_;
  const LoadedModel& original_;
  const ConvertedFile& converted_;
  const ForwardArguments& arguments_;
  BoundValues values_;
  std::vector<MadeInput> inputs_;
  std::vector<std::vector<size_t>> open_axes_;  // for each input the axes of which the request gives no size
  std::optional<Values> stored_;
};

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
