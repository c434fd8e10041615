// SPDX-License-Identifier: BSD-3-Clause
// Says why no rule types a node, and what to do.
#pragma once

#include "lib/base/diagnostics.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Returns the refusal of a node that has no rule: by its formula, by a known refusal, or by what kind of node it is.
Refusal missing_rule(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
