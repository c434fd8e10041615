// Takes apart operators that ATen itself makes of others ("composite" ones: hstack, tensordot, pairwise_distance...),
// and those that have a formula (formulas.h).
#pragma once

#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// Inserts before the node what ATen, or the formula, calls for it, and gives the values that stand for the node's
// outputs; the node itself stays. The operator is traced once on made-up tensors of the inputs' types. Nothing is
// inserted, and the result is empty, where the operator is neither, a size is not fixed, what is called depends on
// values or changes a tensor in place, or an operator that is called has no rule or is the operator itself (lineage.h).
std::vector<TorchValue*> expand_composite(TorchNode& node, const TypeMap& types);

// Why the node's formula does not take its arguments; nothing where it has none, or takes them.
std::optional<Refusal> formula_refusal(const TorchNode& node, const TypeMap& types);

}  // namespace nnapi_convert
