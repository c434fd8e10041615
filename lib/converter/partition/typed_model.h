// The stages before NNAPI's share of a graph is chosen: normalise and infer, with the interface that --quant asks for.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/infer/infer.h"
#include "lib/converter/load/load.h"
#include "lib/converter/lower/quant_mode.h"
#include "lib/converter/options/options.h"
#include "lib/converter/options/stages.h"

namespace nnapi_convert {

struct TypedModel {
  NormalisedModel model;
  InferredTypes inferred;
  std::vector<TensorType> original_inputs, original_outputs;
  std::optional<QuantBoundaries> boundaries;  // nothing where NNAPI was to run a graph with refused nodes
};

struct TypeRequest {
  RunBy run_by = RunBy::kNnapi;
  bool recognises = true;  // operators that NNAPI alone has may come into the graph
};

// Throws ConvertError: kNotConvertible where inputs, or --quant, can't be had; OriginalFails.
TypedModel type_model(const LoadedModel& loaded, const ConvertOptions& options, const TypeRequest& request,
                      Diagnostics& diagnostics, Stages& stages);

// What the graph takes, once the boundaries are where --quant asks for them.
std::vector<TensorType> graph_inputs(const TypedModel& typed);

}  // namespace nnapi_convert
