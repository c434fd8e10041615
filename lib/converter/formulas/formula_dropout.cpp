// Dropouts that draw no random numbers: those that do nothing, or leave nothing.
#include <ATen/ATen.h>

#include "lib/converter/formulas/formulas.h"

namespace nnapi_convert {
namespace {

std::vector<Formed> undropped(const FormulaArguments& args) {
  return {args.first()};
}

std::vector<Formed> nothing_left(const FormulaArguments& args) {
  return {args.first().real * 0};
}

bool is_evaluated(const OpArguments& args) {
  return !args.boolean("train") || args.number("p") == 0;
}

bool leaves_nothing(const OpArguments& args) {
  return args.boolean("train") && args.number("p") == 1;
}

}  // namespace

Formulas dropout_formulas() {
  return {
      {"aten::feature_alpha_dropout", is_evaluated, undropped},
      {"aten::dropout", leaves_nothing, nothing_left},
      {"aten::feature_dropout", leaves_nothing, nothing_left},
      {"aten::alpha_dropout", leaves_nothing, nothing_left},
      {"aten::feature_alpha_dropout", leaves_nothing, nothing_left},
  };
}

}  // namespace nnapi_convert
