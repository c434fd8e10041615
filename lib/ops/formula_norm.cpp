// SPDX-License-Identifier: BSD-3-Clause
// Normalisations by statistics or weights that are computed as the model runs.
#include <ATen/ATen.h>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

// Reshapes a vector with a number per channel so that it broadcasts against x.
Tensor per_channel(const Tensor& values, const Tensor& x) {
  std::vector<int64_t> sizes(static_cast<size_t>(x.dim() - 1), 1);
  sizes[0] = values.numel();
  return values.reshape(sizes);
}

Tensor affine(const FormulaArguments& args, Tensor x) {
  if (!args.is_none("weight")) x = x * per_channel(args.tensor("weight"), x);
  return args.is_none("bias") ? x : x + per_channel(args.tensor("bias"), x);
}

// Normalises by given means and variances [channels].
Tensor by_statistics(const FormulaArguments& args, const Tensor& x) {
  const Tensor mean = args.tensor("running_mean"), variance = args.tensor("running_var");
  Tensor factor = at::rsqrt(variance + args.number("eps"));
  if (!args.is_none("weight")) factor = factor * args.tensor("weight");
  const Tensor result = (x - per_channel(mean, x)) * per_channel(factor, x);
  return args.is_none("bias") ? result : result + per_channel(args.tensor("bias"), x);
}

// Values normalised by the mean and variance along axes; `mean` and `factor` keep these axes.
struct Standard {
  Tensor values, mean, factor;
};

Standard standardised(const Tensor& x, const std::vector<int64_t>& axes, double eps) {
  const Tensor mean = x.mean(axes, true);
  const Tensor off = x - mean;
  const Tensor factor = at::rsqrt((off * off).mean(axes, true) + eps);
  return {off * factor, mean, factor};
}

std::vector<int64_t> all_but(int64_t rank, const std::vector<int64_t>& kept) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) axes.push_back(i);
  }
  return axes;
}

bool has_computed(const OpArguments& args, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (args.has(name) && !args.is_none(name) && !args.is_constant(name)) return true;
  }
  return false;
}

bool is_float_image(const OpArguments& args) {
  const TensorType input = args.tensor("input");
  return input.dtype == at::kFloat && input.rank() >= 2;
}

// True for training mode without running statistics: a converted model can't change these.
bool trains_without_memory(const OpArguments& args) {
  return args.boolean("training") && args.is_none("running_mean") && args.is_none("running_var");
}

bool is_computed_batch_norm(const OpArguments& args) {
  if (!is_float_image(args)) return false;
  if (args.boolean("training")) return trains_without_memory(args);
  return !args.is_none("running_mean") && !args.is_none("running_var") &&
         has_computed(args, {"weight", "bias", "running_mean", "running_var"});
}

std::vector<Formed> batch_norm(const FormulaArguments& args) {
  const Tensor x = args.tensor("input");
  if (!args.boolean("training")) return {by_statistics(args, x)};
  return {affine(args, standardised(x, all_but(x.dim(), {1}), args.number("eps")).values)};
}

bool is_native_batch_norm(const OpArguments& args) {
  if (!is_float_image(args)) return false;
  if (args.boolean("training")) return true;
  return !args.is_none("running_mean") && !args.is_none("running_var");
}

std::vector<Formed> native_batch_norm(const FormulaArguments& args) {
  const Tensor x = args.tensor("input");
  if (!args.boolean("training")) {
    // PyTorch gives empty statistics where it used those given.
    const auto empty = [] { return constant_of([] { return at::empty({0}); }); };
    return {by_statistics(args, x), empty(), empty()};
  }
  if (!args.is_none("running_mean") || !args.is_none("running_var")) {
    throw FormulaRefused("training = True, and running statistics that each call changes", "False",
                         "call model.eval() before tracing or scripting");
  }
  const Standard standard = standardised(x, all_but(x.dim(), {1}), args.number("eps"));
  return {affine(args, standard.values), standard.mean.reshape({-1}), standard.factor.reshape({-1})};
}

bool is_computed_instance_norm(const OpArguments& args) {
  if (!is_float_image(args) || args.tensor("input").rank() < 3) return false;
  const bool has_weights = has_computed(args, {"weight", "bias"});
  if (args.boolean("use_input_stats")) return has_weights || args.tensor("input").rank() > 4;
  return has_weights || has_computed(args, {"running_mean", "running_var"});
}

std::vector<Formed> instance_norm(const FormulaArguments& args) {
  const Tensor x = args.tensor("input");
  if (!args.boolean("use_input_stats")) return {by_statistics(args, x)};
  return {affine(args, standardised(x, all_but(x.dim(), {0, 1}), args.number("eps")).values)};
}

bool is_computed_group_norm(const OpArguments& args) {
  return is_float_image(args) && (has_computed(args, {"weight", "bias"}) || args.tensor("input").rank() > 4);
}

std::vector<Formed> group_norm(const FormulaArguments& args) {
  const Tensor x = args.tensor("input");
  const int64_t groups = args.integer("num_groups");
  const Tensor grouped = x.reshape({x.size(0), groups, -1});
  return {affine(args, standardised(grouped, {2}, args.number("eps")).values.reshape(x.sizes()))};
}

std::vector<Formed> native_group_norm(const FormulaArguments& args) {
  const Tensor x = args.tensor("input");
  const std::vector<int64_t> of_groups = {x.size(0), args.integer("group")};
  const Standard standard = standardised(x.reshape({of_groups[0], of_groups[1], -1}), {2}, args.number("eps"));
  return {affine(args, standard.values.reshape(x.sizes())), standard.mean.reshape(of_groups),
          standard.factor.reshape(of_groups)};
}

}  // namespace

Formulas norm_formulas() {
  return {
      {"aten::batch_norm", is_computed_batch_norm, batch_norm},
      {"aten::native_batch_norm", is_native_batch_norm, native_batch_norm},
      {"aten::instance_norm", is_computed_instance_norm, instance_norm},
      {"aten::group_norm", is_computed_group_norm, group_norm},
      {"aten::native_group_norm", is_computed_group_norm, native_group_norm},
  };
}

}  // namespace nnapi_convert
