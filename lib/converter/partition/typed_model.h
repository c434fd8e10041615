// Runs the stages before partition: normalise and infer, with the boundaries that --quant asks for.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/lineage.h"
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
  std::vector<TypeSource> input_sources;      // of original_inputs
  std::optional<QuantBoundaries> boundaries;  // nothing if NNAPI has to run the whole graph and a node was refused
};

struct TypeRequest {
  RunBy run_by = RunBy::kNnapi;
  bool recognises = true;  // recognise() may insert operators that only NNAPI has
  Composites kept = {};    // stay the operators that they are
};

// Types the model. Throws ConvertError (kNotConvertible) if the inputs or --quant are impossible, and OriginalFails.
TypedModel type_model(const LoadedModel& loaded, const ConvertOptions& options, const TypeRequest& request,
                      Diagnostics& diagnostics, Stages& stages);

// Returns the types of the graph's inputs, with the boundaries of --quant.
std::vector<TensorType> graph_inputs(const TypedModel& typed);

}  // namespace nnapi_convert
