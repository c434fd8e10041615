// SPDX-License-Identifier: BSD-3-Clause
// Makes the model that schemas/nnapi_buffer.md shows word by word.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::testing {

// DEQUANTIZE, FULLY_CONNECTED with 11 inputs and 3 outputs, RESHAPE; the batch size is flexible.
nnapi::Model sample_model();

// Returns a constant of any type that owns its values.
template <typename T>
nnapi::Constant constant_of(nnapi::DataType type, std::vector<int64_t> shape, std::vector<T> values) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const T* data = owner->data();
  return nnapi::Constant(type, std::move(shape), data, std::move(owner));
}

int32_t float_bits(float value);

}  // namespace nnapi_convert::testing
