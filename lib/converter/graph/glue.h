// Lists, tuples and dicts that only put values together.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// Nodes that only put values together for others, and are copied to where those are: lists, tuples and dicts that
// nothing changes.
bool is_glue(const torch::jit::Node& node);

// True if a list or dict may be changed by way of a use of this value.
bool may_be_changed(const torch::jit::Value& container);

}  // namespace nnapi_convert
