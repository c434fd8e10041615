// SPDX-License-Identifier: BSD-3-Clause
// A model that can't be converted, with its graph for the report.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/plan/model_graph.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The graph of a refused model. Its nodes have the numbers of their reasons.
struct RefusedGraph {
  ModelGraph graph;
  std::vector<Refusal> reasons;
};

class RefusedModel : public ConvertError {
 public:
  RefusedModel(const std::string& message, RefusedGraph graph);

  const RefusedGraph& graph() const { return *graph_; }

 private:
  std::shared_ptr<const RefusedGraph> graph_;
};

// Returns the graph with each refusal at the nodes of its operator and source line.
ModelGraph graph_of_refused(const NormalisedModel& model, const TypeMap& types, const std::vector<Refusal>& refusals);

}  // namespace nnapi_convert
