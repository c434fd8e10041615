// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/input_use.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/frontend/normalise.h"

namespace nnapi_convert {
namespace {

// True if an input may be a mask. A single input of floats, as most networks for pictures have, is none.
bool may_have_masks(const std::vector<TensorType>& types) {
  return types.size() > 1 || std::any_of(types.begin(), types.end(),
                                         [](const TensorType& type) { return c10::isIntegralType(type.dtype, true); });
}

}  // namespace

std::vector<InputUse> input_uses(const LoadedModel& loaded, const std::vector<std::string>& names,
                                 const std::vector<TensorType>& types) {
  std::vector<InputUse> uses(names.size());
  const bool has_indices = may_read_indices(loaded.module);
  if ((!has_indices && !may_have_masks(types)) || types.size() != names.size()) return uses;
  try {
    Diagnostics ignored;
    NormalisedModel model = normalise(loaded, frozen_module(loaded), {RunBy::kNnapiAndCpu, names}, ignored);
    if (model.input_names != names) return uses;
    for (size_t i = 0; i < uses.size(); ++i) {
      uses[i].mask = mask_use(*model.inputs[i]);
      uses[i].compared = compared_with(*model.inputs[i]);
    }
    if (!has_indices) return uses;
    const IndexRanges ranges = ranges_of_inputs(model, types);
    for (size_t i = 0; i < uses.size(); ++i) uses[i].range = ranges[i];
  } catch (const ConvertError&) {
    // Uses that were found before the error are true; the others aren't known.
  }
  return uses;
}

}  // namespace nnapi_convert
