// SPDX-License-Identifier: BSD-3-Clause
// Gives the CPU's operators the order in memory that the original has, where they read it: as_strided(), stride(),
// is_contiguous(), a reshape() whose result is changed in place... NNAPI's results have PyTorch's own order and memory
// of their own.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <unordered_map>
#include <vector>

#include "lib/converter/frontend/infer.h"
#include "lib/converter/graph/normalised_model.h"

namespace nnapi_convert {

// The nodes that have to stay on the CPU for their results' order in memory, each with the reason.
using NodesKeptForOrder = std::unordered_map<const torch::jit::Node*, Refusal>;

// Finds the nodes between an operator that reads the order in memory and the operators that make the tensor. Such an
// operator may run on NNAPI if its result has PyTorch's order in the original, or another order without gaps, which
// nodes inserted behind it restore. Inputs count as being in PyTorch's order: a warning says so where that matters.
NodesKeptForOrder keep_memory_order(NormalisedModel& model, InferredTypes& inferred, Diagnostics& diagnostics);

// Refuses the nodes that NNAPI would compute by another order than the original's: as_strided_scatter() on a tensor
// that isn't in PyTorch's order.
std::vector<Refusal> memory_order_refusals(const NormalisedModel& model, const InferredTypes& inferred);

}  // namespace nnapi_convert
