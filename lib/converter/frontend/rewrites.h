// SPDX-License-Identifier: BSD-3-Clause
// The functions of the passes of inference (passes.h): on single nodes, by the types of the nodes before them, and on a
// graph whose nodes are typed.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <memory>

#include "lib/converter/frontend/rewriting.h"
#include "lib/converter/graph/normalised_model.h"

namespace nnapi_convert {

// True for constants, and for nodes that make containers that forward returns or rules read in place.
bool is_structural(const TorchNode& node);

// Unrolls the graph's loops of known rounds (unroll_loops.h) if this is one, or if tries of its rounds tell their
// number (loop_trial.h). Then the sweep has to begin again.
Rewritten unroll_known_loops(TorchNode* node, Rewriting& rewriting);
// Replaces a prim::If with a constant condition by the nodes of the chosen block.
Rewritten choose_branch(TorchNode* node, Rewriting& rewriting);
// Replaces arithmetic on numbers that were read from tensors by operators on tensors (runtime_numbers.h).
Rewritten replace_by_tensors(TorchNode* node, Rewriting& rewriting);
// Replaces a node that reads nested tensors by one that reads the padded tensors of which they are made
// (nested_tensors.h).
Rewritten pad_nested(TorchNode* node, Rewriting& rewriting);
// Joins the computation on elements that a mask chooses with their reads and writes (masked_parts.h).
Rewritten join_masked_parts(TorchNode* node, Rewriting& rewriting);
// Replaces x.type_as(y) and x.to(y) by x where x has y's dtype, and x + 0 by x or a cast.
Rewritten drop_cast(TorchNode* node, Rewriting& rewriting);
// Takes apart an operator along an axis on tensors of rank 0 (rank_0.h), or an operator without a rule that ATen
// computes by operators with rules (expand_composite.h). This ends: new nodes know their lineage (lineage.h), and no
// operator is taken apart that was made of itself.
Rewritten expand_operator(TorchNode* node, Rewriting& rewriting);
// Replaces the outputs of a node that reads a tuple made in the graph (often in a chosen branch) by its elements.
Rewritten take_apart_tuple(TorchNode* node, Rewriting& rewriting);
// Replaces a node whose results are known at conversion by constants, unless the graph changes a result in place.
Rewritten evaluate_constant(TorchNode* node, Rewriting& rewriting);
// Makes tensors of the constant numbers that enter a loop, or leave a node's blocks, for NNAPI's control flow.
Rewritten carry_tensors(TorchNode* node, Rewriting& rewriting);
Rewritten give_tensors(TorchNode* node, Rewriting& rewriting);
// Replaces a node whose results are all empty tensors by constants, unless forward returns one of them.
Rewritten replace_empty(TorchNode* node, Rewriting& rewriting);
// Replaces outputs that are sizes with known values by constants in later nodes, unless the graph changes the list in
// place; the node stays.
Rewritten replace_sizes(TorchNode* node, Rewriting& rewriting);

// Runs `change` on the model's graph, then sets the model's outputs to those of the changed graph. Returns the result
// of `change`.
bool keeping_outputs(NormalisedModel& model, const std::function<bool(std::shared_ptr<torch::jit::Graph>&)>& change);

// True if a node reads the value, or if the value is an output of the model.
bool is_needed(const NormalisedModel& model, const TorchValue& value);

// Drops nodes that join the parts of complex numbers, or make nested tensors, if other nodes read the parts only.
bool drop_pairs(TypedGraph& graph);
// Evaluates tensors that are filled in place (written_values.h).
bool evaluate_writes(TypedGraph& graph);
// In whole graphs, makes changes of lists functional. Chosen branches may hold such changes.
bool drop_list_changes(TypedGraph& graph);
// In whole graphs, makes changes of tensors in place functional, which unrolled loops and chosen branches hold.
bool remove_changes(TypedGraph& graph);
// Simplifies containers (containers.h): in whole graphs where a node is refused, as lists of known elements may be
// changed; in graphs that TorchScript runs in parts always.
bool simplify_typed_containers(TypedGraph& graph);

}  // namespace nnapi_convert
