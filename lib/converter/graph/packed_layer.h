// SPDX-License-Identifier: BSD-3-Clause
// Reads the packed weights of quantised layers.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/native/quantized/PackedParams.h>
#include <torch/custom_class.h>

namespace nnapi_convert {

// Returns the layer of this kind, LinearPackedParamsBase or ConvPackedParamsBase<N>; null for any other value.
template <typename Packed>
c10::intrusive_ptr<Packed> packed_as(const c10::IValue& value) {
  const bool is_such =
      value.isCustomClass() && value.toObject()->type() == c10::getCustomClassType<c10::intrusive_ptr<Packed>>();
  return is_such ? value.toCustomClass<Packed>() : c10::intrusive_ptr<Packed>();
}

}  // namespace nnapi_convert
