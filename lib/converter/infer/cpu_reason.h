// Why a node stays on the CPU where no rule of NNAPI's says it: what it is, or what isn't known of its values.
#pragma once

#include <optional>
#include <string>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True for a tensor, and for what tensors may be in.
bool holds_tensors(const c10::TypePtr& type);

// Of branches and loops, and of nodes whose order has to be kept: printing, raising, random numbers, attributes that
// change. Nothing for others.
std::optional<std::string> reason_of_effect(const TorchNode& node);

// Of nodes that read and give no tensors, or only put them into containers or take them out; nothing for others.
std::optional<std::string> reason_without_tensors(const TorchNode& node);

// The node after which the types of values are unknown on the way to this value, which is of unknown type: what it
// reads is of known types as far as that matters. Null for an argument of forward.
const TorchNode* where_types_end(const TorchValue& value, const TypeMap& types);

}  // namespace nnapi_convert
