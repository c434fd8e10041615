// SPDX-License-Identifier: BSD-3-Clause
// Says why a node stays on the CPU if no rule refused it: by the node's kind, or by a value of unknown type.
#pragma once

#include <optional>
#include <string>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True for the type of a tensor, and of a container that may hold tensors.
bool holds_tensors(const c10::TypePtr& type);

// Returns the reason for branches and loops, and for nodes whose order has to be kept: printing, raising, random
// numbers, changes of attributes. Returns nothing for others.
std::optional<std::string> reason_of_effect(const TorchNode& node);

// Returns the reason for nodes without tensors as inputs and results, and for nodes that only put tensors into
// containers or take them out; nothing for others.
std::optional<std::string> reason_without_tensors(const TorchNode& node);

// For a value of unknown type, goes back along its inputs of unknown type and returns the first node: it makes a result
// of unknown type of inputs whose types are known. Null if the way ends at an argument of forward.
const TorchNode* where_types_end(const TorchValue& value, const TypeMap& types);

}  // namespace nnapi_convert
