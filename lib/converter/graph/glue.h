// SPDX-License-Identifier: BSD-3-Clause
// Finds glue: nodes that make lists, tuples or dicts, and that only put values together for other nodes.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// True for a node that makes a list, tuple or dict that nothing changes. Such a node is copied to the nodes that read
// it.
bool is_glue(const torch::jit::Node& node);

// True for a node whose results are its inputs, or all or a known part of what containers among its inputs hold.
bool hands_on(const torch::jit::Node& node);

// True for a node whose results are its input, or some of what the container that it reads holds.
bool takes_out(const torch::jit::Node& node);

// True if a node that reads this list or dict may change it.
bool may_be_changed(const torch::jit::Value& container);

}  // namespace nnapi_convert
