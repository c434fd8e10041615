// Which operators a node of the graph was made of: an operator that is taken apart leaves others in its place, which
// may be taken apart in turn. That ends: no operator is taken apart that was made of itself, and there are only so many
// operators.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace nnapi_convert {

// The operator's name with its overload, "aten::sum.dim_IntList"; the node's kind where it has no schema.
std::string operator_name(const torch::jit::Node& node);

// The operators that the node was made of, the first one first, and the node's own.
std::vector<std::string> lineage_of(const torch::jit::Node& node);

// True if one of the operators that the node was made of is its own.
bool is_made_of_itself(const torch::jit::Node& node);

// Says that the nodes from `begin` to before `end` were made of operators of this lineage.
void set_lineage(torch::jit::Node* begin, const torch::jit::Node* end, const std::vector<std::string>& lineage);

}  // namespace nnapi_convert
