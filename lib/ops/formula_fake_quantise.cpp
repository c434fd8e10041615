// SPDX-License-Identifier: BSD-3-Clause
// Fake quantisation by a scale for each channel, or by one that is computed: floats rounded to the numbers that a
// quantised tensor holds. With one constant scale, the operator has a rule (fake_quantise.cpp).
#include <ATen/ATen.h>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

// PyTorch multiplies by the inverse scale. It rounds before it adds a zero point that is an integer, and after it adds
// one that is a float.
Tensor rounded(const FormulaArguments& args, const Tensor& scale, const Tensor& zero_point, bool is_whole) {
  const Tensor quotient = args.tensor("self") * scale.reciprocal();
  const Tensor codes = is_whole ? at::round(quotient) + zero_point : at::round(quotient + zero_point);
  const Tensor kept = at::clamp(codes, args.integer("quant_min"), args.integer("quant_max"));
  return (kept - zero_point) * scale;
}

// Returns a learned zero point, rounded and clamped to the levels.
Tensor settled(const FormulaArguments& args, const Tensor& zero_point) {
  return at::clamp(at::round(zero_point.to(at::kFloat)), args.integer("quant_min"), args.integer("quant_max"));
}

// Fake quantisation by one scale; a zero point that isn't learned is cut off to an integer.
template <bool is_learned>
std::vector<Formed> by_computed(const FormulaArguments& args) {
  const Tensor given = args.tensor("zero_point");
  const Tensor zero_point = is_learned ? settled(args, given) : given.to(at::kInt).to(at::kFloat);
  return {rounded(args, args.tensor("scale").to(at::kFloat), zero_point, true)};
}

template <bool is_learned>
std::vector<Formed> by_channels(const FormulaArguments& args) {
  std::vector<int64_t> sizes(static_cast<size_t>(args.tensor("self").dim()), 1);
  sizes.at(static_cast<size_t>(args.integer("axis"))) = -1;
  const Tensor given = args.tensor("zero_point");
  const Tensor zero_point = is_learned ? settled(args, given) : given.to(at::kFloat);
  const Tensor scale = args.tensor("scale").to(at::kFloat).reshape(sizes);
  return {rounded(args, scale, zero_point.reshape(sizes), is_learned || !given.is_floating_point())};
}

bool quantises_floats(const OpArguments& args) {
  return args.tensor("self").dtype == at::kFloat;
}

bool has_computed_scale(const OpArguments& args) {
  return quantises_floats(args) && !(args.is_constant("scale") && args.is_constant("zero_point"));
}

}  // namespace

Formulas fake_quantise_formulas() {
  return {
      {"aten::fake_quantize_per_tensor_affine.tensor_qparams", has_computed_scale, by_computed<false>},
      {"aten::fake_quantize_per_channel_affine", quantises_floats, by_channels<false>},
      {"aten::_fake_quantize_learnable_per_tensor_affine", has_computed_scale, by_computed<true>},
      {"aten::_fake_quantize_learnable_per_channel_affine", quantises_floats, by_channels<true>},
  };
}

}  // namespace nnapi_convert
