// SPDX-License-Identifier: BSD-3-Clause
// Fake quantisation, which training inserts: floats rounded to the numbers that a quantised tensor holds.
#include <ATen/ATen.h>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

// PyTorch multiplies by the inverse scale, and rounds before it adds the zero point.
Tensor rounded(const FormulaArguments& args, const Tensor& scale, const Tensor& zero_point) {
  const Tensor codes = at::round(args.tensor("self") * scale.reciprocal()) + zero_point;
  const Tensor kept = at::clamp(codes, args.integer("quant_min"), args.integer("quant_max"));
  return (kept - zero_point) * scale;
}

std::vector<Formed> by_numbers(const FormulaArguments& args) {
  const auto number = [&](const char* name) {
    return constant_of([&] { return at::full({1}, args.number(name), at::kFloat); });
  };
  return {rounded(args, number("scale"), number("zero_point"))};
}

std::vector<Formed> by_tensors(const FormulaArguments& args) {
  return {rounded(args, args.tensor("scale").to(at::kFloat), args.tensor("zero_point").to(at::kFloat))};
}

std::vector<Formed> by_channels(const FormulaArguments& args) {
  std::vector<int64_t> sizes(static_cast<size_t>(args.tensor("self").dim()), 1);
  sizes.at(static_cast<size_t>(args.integer("axis"))) = -1;
  const auto along = [&](const char* name) { return args.tensor(name).to(at::kFloat).reshape(sizes); };
  return {rounded(args, along("scale"), along("zero_point"))};
}

bool quantises_floats(const OpArguments& args) {
  return args.tensor("self").dtype == at::kFloat;
}

}  // namespace

Formulas fake_quantise_formulas() {
  return {
      {"aten::fake_quantize_per_tensor_affine", quantises_floats, by_numbers},
      {"aten::fake_quantize_per_tensor_affine.tensor_qparams", quantises_floats, by_tensors},
      {"aten::fake_quantize_per_channel_affine", quantises_floats, by_channels},
  };
}

}  // namespace nnapi_convert
