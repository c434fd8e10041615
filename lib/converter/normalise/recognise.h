// Finds what PyTorch composes of several operations and NNAPI has one for.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Puts operators of our own (recognised_rules()) in the place of
//   torch.nn.functional.local_response_norm, and the same written with an average pool by hand;
//   torch.nn.functional.lp_pool2d of order 2.
// `types` has those of the values that lead there. True if something was found: types have to be inferred again.
bool recognise(NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
