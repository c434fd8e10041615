// SPDX-License-Identifier: BSD-3-Clause
// Drops operations, operands and inputs that nobody reads, and stores equal constants once.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Drops unread parts and merges equal constants, then renumbers operands in the order of their first use.
void compact(Model& model);

// Only drops operations and inputs that nothing reads.
void drop_unread(Model& model);

}  // namespace nnapi_convert::nnapi
