// SPDX-License-Identifier: BSD-3-Clause
// Operators that become other operators of ATen where some of their arguments are constants. No types are needed.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <vector>

namespace nnapi_convert {

// A decomposition of one operator. `function` inserts the operators before the node, and destroys the node; it returns
// false if the node stays, as its arguments are unknown or not those that it is for. A node that stays may be tried
// again.
struct Decomposition {
  const char* name;  // of the operator, with its overload
  bool (*replace)(torch::jit::Node*);
};

// Each family of decompositions has one file.
using Decompositions = std::vector<Decomposition>;
Decompositions attention_decompositions();  // decompose_attention.cpp
Decompositions product_decompositions();    // decompose_products.cpp
Decompositions row_decompositions();        // decompose_rows.cpp

// Returns the decompositions of all families.
const Decompositions& all_decompositions();

// Returns the decomposition of the node's operator; null if there is none.
const Decomposition* find_decomposition(const torch::jit::Node& node);

}  // namespace nnapi_convert
