// SPDX-License-Identifier: BSD-3-Clause
// Computes numbers that are made of open sizes where they cost nothing.
#pragma once

#include <functional>
#include <optional>

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/ops/op_arguments.h"

namespace nnapi_convert {

// Inserts nodes at the graph's insertion point that compute the size; `size_of` gives or makes the value of an open
// one.
torch::jit::Value* insert_size(torch::jit::Graph& graph, const Dim& size,
                               const std::function<torch::jit::Value*(const OpenSize&)>& size_of);

// Returns the size with its open sizes replaced by `other`; nothing if `other` has none for one of them.
std::optional<Dim> with_others(const Dim& size, const std::function<std::optional<Dim>(const OpenSize&)>& other);

// Reads numbers and lists of numbers that are made of sizes of the model's inputs from these inputs, at the graph's
// beginning, whichever tensor had told them: a segment need neither hand over a tensor whose elements nobody reads, nor
// wait for one. Adds the types of the new values.
void read_sizes_of_inputs(NormalisedModel& model, TypeMap& types);

}  // namespace nnapi_convert
