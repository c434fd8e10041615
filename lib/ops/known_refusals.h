// Operators that have no rule for a reason: what the model asks for, and what to do instead.
#pragma once

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct KnownRefusal {
  const char* found;
  const char* needed;
  const char* hint;
};

// Null where nothing is known.
const KnownRefusal* known_refusal(const TorchNode& node);

// The schemas of those that LibTorch does not have itself.
std::vector<const char*> refused_custom_operators();

}  // namespace nnapi_convert
