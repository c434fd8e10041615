// SPDX-License-Identifier: BSD-3-Clause
// Dropouts that draw no random numbers: those that do nothing, or leave nothing.
#include <ATen/ATen.h>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

std::vector<Formed> undropped(const FormulaArguments& args) {
  return {args.first()};
}

std::vector<Formed> nothing_left(const FormulaArguments& args) {
  return {args.first().real * 0};
}

std::vector<Formed> undropped_and_mask(const FormulaArguments& args) {
  const at::Tensor input = args.tensor("input");
  return {input, constant_of([&] { return at::ones(input.sizes(), at::TensorOptions(at::kBool)); })};
}

bool is_evaluated(const OpArguments& args) {
  return !args.boolean("train") || args.number("p") == 0;
}

bool leaves_nothing(const OpArguments& args) {
  return args.boolean("train") && args.number("p") == 1;
}

bool is_constantly_evaluated(const OpArguments& args) {
  return args.is_constant("train") && !args.is_none("train") && !args.boolean("train");
}

}  // namespace

Formulas dropout_formulas() {
  return {
      {"aten::feature_alpha_dropout", is_evaluated, undropped},
      {"aten::native_dropout", is_constantly_evaluated, undropped_and_mask},
      {"aten::dropout", leaves_nothing, nothing_left},
      {"aten::feature_dropout", leaves_nothing, nothing_left},
      {"aten::alpha_dropout", leaves_nothing, nothing_left},
      {"aten::feature_alpha_dropout", leaves_nothing, nothing_left},
  };
}

}  // namespace nnapi_convert
