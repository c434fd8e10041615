// SPDX-License-Identifier: BSD-3-Clause
// Finds the rule of an operator among all rules.
#pragma once

#include "lib/ops/op_rule.h"

namespace nnapi_convert {

const OpRules& all_rules();

// Returns the rule for a node by its schema's name and overload; null if there is none.
const OpRule* find_rule(const TorchNode& node);
// Returns the rule for a node whose types are known; null if there is none. Arithmetic on tensors that hold sizes has
// other rules than that on other tensors.
const OpRule* find_typed_rule(const TorchNode& node, const TypeMap& types);

// Returns the operator's traits, equal for all overloads: from its rules, or from the list of operators on the CPU. An
// operator in neither has no traits.
const OpTraits& find_traits(c10::Symbol kind);
const OpTraits& find_traits(const TorchNode& node);

}  // namespace nnapi_convert
