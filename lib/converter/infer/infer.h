// Finds the type of every value of the graph by the rules' shape functions.
#pragma once

#include <set>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/graph/open_sizes.h"
#include "lib/converter/options/options.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

struct InferredTypes {
  TypeMap types;
  std::vector<Refusal> refusals;  // nodes that can't be typed: without a rule, or refused by it
  RuntimeSizeList runtime_sizes;  // that types refer to, where the graph keeps its numbers
  std::vector<Refusal> failures;  // of operators that always run and raise an error in PyTorch, too
};

struct InferOptions {
  ControlFlow control_flow = ControlFlow::kRefuse;
  bool keeps_numbers = false;   // the graph stays one that TorchScript can run
  std::set<int64_t> kept = {};  // of these nodes no constants are made (InferOptions::keeps_numbers)
  bool is_trial = false;        // the graph is a copy that is thrown away
};

// Numbers that are taken out of tensors become tensors of rank 0 in the graph. Blocks of prim::If whose condition is
// known become part of the graph. A node that only fails because an earlier one did is not reported again.
InferredTypes infer(NormalisedModel& model, const std::vector<TensorType>& input_types, const InferOptions& options);

// The same for a graph whose inputs may be of any type: what isn't in `input_types` is unknown.
InferredTypes infer(NormalisedModel& model, const TypeMap& input_types, const InferOptions& options);

// The graph with the types, one node a line.
std::string to_text(const NormalisedModel& model, const TypeMap& types);

}  // namespace nnapi_convert
