// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/packed_weights.h"

#include <ATen/ATen.h>
#include <ATen/native/quantized/PackedParams.h>

namespace nnapi_convert {
namespace {

template <typename Packed>
bool is_per_channel(const c10::IValue& value) {
  const auto object = value.toObject();
  if (object->type() != c10::getCustomClassType<c10::intrusive_ptr<Packed>>()) return false;
  const at::Tensor weight = std::get<0>(value.toCustomClass<Packed>()->unpack());
  return weight.is_quantized() && weight.qscheme() != at::kPerTensorAffine;
}

}  // namespace

bool has_per_channel_weights(const torch::jit::Module& module) {
  for (const torch::jit::Module& child : module.modules()) {
    for (const c10::IValue& value : child.attributes(/*recurse=*/false)) {
      if (!value.isCustomClass()) continue;
      if (is_per_channel<ConvPackedParamsBase<2>>(value) || is_per_channel<LinearPackedParamsBase>(value)) return true;
    }
  }
  return false;
}

}  // namespace nnapi_convert
