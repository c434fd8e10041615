// SPDX-License-Identifier: BSD-3-Clause
// Writes tensors as NumPy's arrays, version 1.0 of the .npy format. lib/base/numpy_file.h reads them.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace nnapi_convert {

// The parts of a .npy file: its head, then the bytes of the values.
struct NumpyArray {
  std::string head;
  at::Tensor values;  // contiguous; float32 for dtypes that NumPy lacks, such as bfloat16
};

NumpyArray numpy_array(const at::Tensor& tensor);

}  // namespace nnapi_convert
