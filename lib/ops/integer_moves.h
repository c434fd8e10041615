// Integers where NNAPI has an operation for other numbers only: it runs on float32 where the integers are known to be
// small enough, else on other operations that move integers, or on their halves.
#pragma once

#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// False for operations that take no TENSOR_INT32 at this feature level and float32 does as well.
bool takes_integers(OperationCode code, int feature_level);

// Appends the operation's work on integers, for one that doesn't take them. Refuses the node where numbers might come
// out changed.
nnapi::OperandId emit_integers(OpContext& ctx, OperationCode code, std::vector<nnapi::OperandId> inputs,
                               const TensorType& type);

// Refuses the node where it gives integers and the CAST would round them on the way.
void require_exact_cast(OpContext& ctx, nnapi::OperandId input, const TensorType& type);

}  // namespace nnapi_convert
