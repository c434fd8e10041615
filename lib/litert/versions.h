// SPDX-License-Identifier: BSD-3-Clause
// Chooses the version of an operator that a file asks for. Older runtimes refuse too high a version, so the lowest one
// is written. Source of facts: docs of LiteRT's operators, and trials in LiteRT 2.5.3 (docs/litert.md).
#pragma once

#include "lib/litert/file.h"

namespace nnapi_convert::litert {

// Returns the lowest version that has this operator with the types of its tensors and its options.
int32_t version_of(const Subgraph& subgraph, const Operator& each);

}  // namespace nnapi_convert::litert
