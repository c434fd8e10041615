// Evaluates at conversion tensors that the graph makes of constants and then fills in place, such as masks.
#pragma once

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Replaces by constants the tensors that nodes of constant inputs make and change in place, if no other node changes
// them, and no other node reads them before the last change. True if there were any.
bool evaluate_closed_writes(NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
