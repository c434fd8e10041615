// SPDX-License-Identifier: BSD-3-Clause
// Views that name their strides.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

// _reshape_alias reads the elements in their order in memory, by strides that reshape computed for that order.
std::vector<Formed> reshape_alias(const FormulaArguments& args) {
  const std::vector<int64_t> size = args.integers("size"), stride = args.integers("stride");
  int64_t expected = 1;
  for (size_t i = size.size(); i-- > 0;) {
    if (i >= stride.size() || (stride[i] != expected && size[i] != 1)) {
      throw FormulaRefused(fmt::format("strides {} of sizes {}", fmt::join(stride, ", "), fmt::join(size, ", ")),
                           "those of a contiguous tensor", "use reshape");
    }
    expected *= size[i];
  }
  return {args.tensor("self").reshape(size)};
}

}  // namespace

Formulas alias_formulas() {
  return {{"aten::_reshape_alias", nullptr, reshape_alias}};
}

}  // namespace nnapi_convert
