// SPDX-License-Identifier: BSD-3-Clause
// Turns slices that take all entries of an axis, one each, into a SPLIT of the tensor before the moves that made the
// axis. So queries, keys and values are split off the linear layer that gives them.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Changes nothing below feature level 3, which has SPLIT first.
void split_slices(Model& model, int feature_level);

}  // namespace nnapi_convert::nnapi
