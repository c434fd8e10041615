// SPDX-License-Identifier: BSD-3-Clause
// Compares the inputs and outputs of a package's models. Its callers don't know which model runs, so that they have to
// see the same tensors, besides sizes, whichever does. Where one model has floats, callers pass and get floats, and the
// shim converts for the models that have 8-bit integers there (lib/shim/float_boundary.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/converter/emit/conversion.h"

namespace nnapi_convert {

struct MemberRefusal {
  size_t number;  // of the model that doesn't fit to the others, from 0 on
  std::string reason;
};

// Returns why these conversions for the shim can't be one package; nothing if they can. It needs no weights.
std::optional<MemberRefusal> package_refusal(const std::vector<const Conversion*>& members);

// Returns the number of the first model whose own inputs and outputs are those that callers see. package_refusal() has
// to return nothing for the models.
size_t member_that_callers_see(const std::vector<const Conversion*>& members);

}  // namespace nnapi_convert
