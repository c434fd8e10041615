// SPDX-License-Identifier: BSD-3-Clause
// Holds the tensors of one sample of a comparison. Quantised ones are float32: their values, not their integers.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace nnapi_convert {

struct ComparedSample {
  std::string place;                     // "0"; "model 2/0" of a package's second model
  std::vector<std::string> input_names;  // paths of the inputs: "x", "images[0]"
  std::vector<at::Tensor> inputs, original, converted;
};

}  // namespace nnapi_convert
