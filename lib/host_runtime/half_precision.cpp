// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/half_precision.h"

#include <cstdlib>
#include <cstring>

#include "lib/host_runtime/log.h"

namespace nnapi_convert::host {

bool rounds_to_half(const Model& model) {
  const char* text = std::getenv("NNAPI_HOST_RELAX");
  if (!text || !*text) return false;
  if (std::strcmp(text, "fp16") == 0) return model.relaxed();
  complain_of_variable("NNAPI_HOST_RELAX", text, "fp16 needed; nothing is rounded");
  return false;
}

std::optional<Overflow> round_to_half(at::Tensor& tensor) {
  const at::Tensor rounded = tensor.to(at::kHalf).to(at::kFloat);
  const at::Tensor lost = at::logical_and(tensor.isfinite(), rounded.isfinite().logical_not()).reshape({-1});
  std::optional<Overflow> overflow;
  if (lost.any().item<bool>()) {
    const int64_t element = lost.nonzero()[0].item<int64_t>();
    overflow = Overflow{0, element, tensor.reshape({-1})[element].item<double>()};
  }
  tensor = rounded;
  return overflow;
}

}  // namespace nnapi_convert::host
