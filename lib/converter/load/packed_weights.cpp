// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/packed_weights.h"

#include <ATen/ATen.h>

#include "lib/converter/graph/packed_layer.h"

namespace nnapi_convert {
namespace {

template <typename Packed>
bool is_per_channel(const c10::IValue& value) {
  const auto layer = packed_as<Packed>(value);
  if (layer == nullptr) return false;
  const at::Tensor weight = std::get<0>(layer->unpack());
  return weight.is_quantized() && weight.qscheme() != at::kPerTensorAffine;
}

}  // namespace

bool has_per_channel_weights(const torch::jit::Module& module) {
  for (const torch::jit::Module& child : module.modules()) {
    for (const c10::IValue& value : child.attributes(/*recurse=*/false)) {
      if (is_per_channel<ConvPackedParamsBase<2>>(value) || is_per_channel<LinearPackedParamsBase>(value)) return true;
    }
  }
  return false;
}

}  // namespace nnapi_convert
