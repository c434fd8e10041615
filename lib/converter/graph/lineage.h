// Records the lineage of each node: the operators that were taken apart to make it. Taking an operator apart leaves
// other operators, which may be taken apart in turn. This ends, as no operator is taken apart if its own name is in its
// lineage.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace nnapi_convert {

// Returns the operator's name with its overload, "aten::sum.dim_IntList"; the node's kind if it has no schema.
std::string operator_name(const torch::jit::Node& node);

// Returns the operators that were taken apart to make the node, the oldest first, and the node's own operator last.
std::vector<std::string> lineage_of(const torch::jit::Node& node);

// True if the node's own operator was taken apart to make it.
bool is_made_of_itself(const torch::jit::Node& node);

// Records `lineage` for the nodes from `begin` to before `end`.
void set_lineage(torch::jit::Node* begin, const torch::jit::Node* end, const std::vector<std::string>& lineage);

}  // namespace nnapi_convert
