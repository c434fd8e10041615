// All rules, found by the operator they are for.
#pragma once

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

const OpRules& all_rules();

// The rule for a node by its schema's name and overload; null if there is none.
const OpRule* find_rule(const TorchNode& node);
// The same where types are known: arithmetic on tensors that hold sizes has rules of its own.
const OpRule* find_typed_rule(const TorchNode& node, const TypeMap& types);

// What is known of the operator, whichever overload it is: from its rules, or the list of operators on the CPU. One
// that is nowhere has no traits.
const OpTraits& find_traits(c10::Symbol kind);
const OpTraits& find_traits(const TorchNode& node);

}  // namespace nnapi_convert
