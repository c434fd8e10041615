// SPDX-License-Identifier: BSD-3-Clause
// Finds the type of every value of a graph by the rules' shape functions, and rewrites the graph by what is known.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/frontend/inferred_types.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Returns the options of inference that the options of the conversion ask for. keeps_numbers is false.
InferOptions infer_options(const FrontendOptions& options);

// Types the graph as it is, and changes nothing. A node that fails only because an earlier one failed is not reported.
InferredTypes types_of(const NormalisedModel& model, const TypeMap& input_types, const InferOptions& options);

// Types the graph and rewrites it until nothing more is known. Unless keeps_numbers, numbers that are read from tensors
// become tensors of rank 0 in the graph. If the condition of a prim::If is known, the chosen block takes its place.
// After each round, options.on_pass gets the graph as text once for each pass that changed it. Inputs that are not in
// `input_types` are unknown. Throws ConvertError (kNotConvertible) if a node may change the shape of a tensor in place.
InferredTypes infer(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options);
InferredTypes infer(NormalisedModel& model, const std::vector<TensorType>& input_types, const InferOptions& options);

// Returns the graph with its types as text, one node a line.
std::string to_text(const NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
