// Operators that have no rule for a reason: what the model asks for, and what to do instead.
#pragma once

#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct KnownRefusal {
  const char* found;
  const char* needed;
  const char* hint;
};

// Null where nothing is known.
const KnownRefusal* known_refusal(const TorchNode& node);

}  // namespace nnapi_convert
