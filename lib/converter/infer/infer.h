// Finds the type of every value of the graph by the rules' shape functions.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/converter/options/options.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct InferredTypes {
  TypeMap types;
  std::vector<Refusal> refusals;  // nodes without a type: they have no rule, or the rule refuses them
  RuntimeSizeList runtime_sizes;  // sizes that depend on values; `types` refers to them if keeps_numbers
  std::vector<Refusal> failures;  // operators that always run and that raise an error in PyTorch, too
};

struct InferOptions {
  ControlFlow control_flow = ControlFlow::kRefuse;
  bool keeps_numbers = false;  // numbers stay numbers, so that TorchScript can still run the graph
  bool is_trial = false;       // the graph is a copy that is thrown away
  bool tries_loops = true;     // finds how often a loop runs by tries of its rounds
};

// Infers the types. Unless keeps_numbers, numbers that are read from tensors become tensors of rank 0 in the graph. If
// the condition of a prim::If is known, the chosen block takes its place. A node that fails only because an earlier one
// failed is not reported.
InferredTypes infer(NormalisedModel& model, const std::vector<TensorType>& input_types, const InferOptions& options);

// Infers the types of a graph whose inputs may be of any type: inputs that are not in `input_types` are unknown.
InferredTypes infer(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options);

// Returns the graph with its types as text, one node a line.
std::string to_text(const NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
