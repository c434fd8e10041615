// SPDX-License-Identifier: BSD-3-Clause
// Lists operators that have no rule for a known reason, with the parts of the refusal's message.
#pragma once

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct KnownRefusal {
  const char* found;
  const char* needed;
  const char* hint;
};

// Returns the node's refusal; null if none is listed.
const KnownRefusal* known_refusal(const TorchNode& node);

struct NamedRefusal {
  const char* name;  // of the operator, with its overload
  const KnownRefusal* refusal;
};
std::vector<NamedRefusal> all_known_refusals();

// Returns the schemas of the listed operators that LibTorch doesn't have itself.
std::vector<const char*> refused_custom_operators();

}  // namespace nnapi_convert
