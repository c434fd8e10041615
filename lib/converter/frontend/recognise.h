// SPDX-License-Identifier: BSD-3-Clause
// Finds compositions of several PyTorch operators for which NNAPI has one operation, or a better one.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Puts operators of our own (recognised_rules()) in the place of
//   torch.nn.functional.local_response_norm, and the same written with an average pool by hand;
//   torch.nn.functional.lp_pool2d of order 2.
// A product of int64 that is only made a bool (masks of rows and columns) becomes logical_and of its factors.
// `types` has the types of the values in the compositions. True if one was found: the caller has to infer types again.
bool recognise(NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
