// SPDX-License-Identifier: BSD-3-Clause
// Divides rows by their deviation or root mean square, as layer and RMS norms do, with L2_NORMALIZATION: two operations
// in place of five. The rows get a few more columns whose squares add the norm's eps, and the linear layers that read
// the rows get zeros for these columns.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Float only, from feature level 3 on. Not for models that may compute in half precision: the sum of the squares of a
// long row may be more than it holds. Runs after the layout is chosen: images are in NHWC.
void l2_normalise(Model& model);

}  // namespace nnapi_convert::nnapi
