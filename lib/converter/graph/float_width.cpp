// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/float_width.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

bool is_other_width(at::ScalarType dtype) {
  return c10::isFloatingType(dtype) && dtype != at::kFloat;
}

bool is_reduced(at::ScalarType dtype) {
  return dtype == at::kHalf || dtype == at::kBFloat16;
}

// A model that also has float32 weights is one with steps in several dtypes (lib/converter/frontend/reduced_steps.h).
std::optional<at::ScalarType> float_width(const torch::jit::Module& module) {
  const auto is_float32 = [](const at::Tensor& tensor) {
    return tensor.defined() && tensor.numel() > 1 && tensor.scalar_type() == at::kFloat;
  };
  for (const at::Tensor& parameter : module.parameters()) {
    if (is_float32(parameter)) return std::nullopt;
  }
  const auto is_found = [](const at::Tensor& tensor) {
    return tensor.defined() && !tensor.is_quantized() && tensor.numel() > 1 && is_other_width(tensor.scalar_type());
  };
  for (const at::Tensor& parameter : module.parameters()) {
    if (is_found(parameter)) return parameter.scalar_type();
  }
  for (const at::Tensor& buffer : module.buffers()) {
    if (is_found(buffer) && buffer.scalar_type() != at::kDouble) return buffer.scalar_type();
  }
  return std::nullopt;
}

void warn_of_float_width(at::ScalarType width, Diagnostics& diagnostics) {
  diagnostics.warn(
      fmt::format("the model computes in {}: it is converted to float32, between casts that keep the dtypes "
                  "of its inputs and results; results are those of the model without its rounding to {}",
                  dtype_name(width), dtype_name(width)));
}

void warn_of_reduced_steps(const std::vector<at::ScalarType>& dtypes, Diagnostics& diagnostics) {
  if (dtypes.empty()) return;
  std::vector<std::string> names;
  for (const at::ScalarType dtype : dtypes) names.emplace_back(dtype_name(dtype));
  const std::string all = fmt::format("{}", fmt::join(names, " and "));
  diagnostics.warn(
      fmt::format("some steps of the model compute in {}: they are converted to float32; its inputs and results keep "
                  "their dtypes, and results are those of the model without its rounding to {}",
                  all, all));
}

void set_default_width(std::vector<InputSpec>& specs, at::ScalarType width) {
  for (InputSpec& spec : specs) {
    if (!spec.dtype) spec.dtype = width;
  }
}

}  // namespace nnapi_convert
