// SPDX-License-Identifier: BSD-3-Clause
// Records the lineage of each node: the operators that were taken apart to make it. Taking an operator apart leaves
// other operators, which may be taken apart in turn. This ends, as no operator is taken apart if its own name is in its
// lineage.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <set>
#include <string>
#include <vector>

namespace nnapi_convert {

// The operators that were taken apart to make a node.
struct Lineage {
  std::vector<std::string> operators;  // their names, the oldest first, and the node's own last
  std::string composite;               // the name of the first result of the oldest; it may be the node's own result
};

// Composites by the names of their first results, as Lineage has them.
using Composites = std::set<std::string>;

// Returns the operator's name with its overload, "aten::sum.dim_IntList"; the node's kind if it has no schema.
std::string operator_name(const torch::jit::Node& node);

Lineage lineage_of(const torch::jit::Node& node);

// Returns the composite that the node is a part of; empty for a node that no operator was taken apart to make.
std::string composite_of(const torch::jit::Node& node);

// True if the node's own operator was taken apart to make it.
bool is_made_of_itself(const torch::jit::Node& node);

// Records that a node of this lineage was taken apart to make the nodes from `begin` to before `end`.
void set_lineage(torch::jit::Node* begin, const torch::jit::Node* end, const Lineage& lineage);

}  // namespace nnapi_convert
