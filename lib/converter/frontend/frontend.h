// SPDX-License-Identifier: BSD-3-Clause
// The front end of a conversion: from a loaded model to its typed graphs. They depend neither on the feature level nor
// on the device, layout or precision of a target, so that one front end serves all plans of a model.
//
// A model has two graphs at most, each normalised once: the one that NNAPI runs whole, in which numbers are tensors and
// effects are gone, and, for a model that is divided, one that TorchScript can run in parts. The divided graph is
// normalised a second time only if a rewrite must be undone; see divided().
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/frontend/index_range.h"
#include "lib/converter/frontend/infer.h"
#include "lib/converter/frontend/input_types.h"
#include "lib/converter/frontend/memory_order.h"
#include "lib/converter/frontend/quant_mode.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/load/load.h"
#include "lib/ops/lineage.h"
#include "lib/types/options.h"

namespace nnapi_convert {

struct TypedModel {
  NormalisedModel model;
  InferredTypes inferred;
  std::vector<TensorType> original_inputs, original_outputs;
  std::vector<TypeSource> input_sources;      // of original_inputs
  SizeConditions conditions;                  // on their open sizes
  std::optional<QuantBoundaries> boundaries;  // nothing if NNAPI has to run the whole graph and a node was refused
};

// Returns the types of the graph's inputs, with the boundaries of --quant.
std::vector<TensorType> graph_inputs(const TypedModel& typed);

// Returns the type of each tensor that forward returns; float32 for tensors of unknown type.
std::vector<TensorType> output_types(const NormalisedModel& normalised, const TypeMap& types);

// A graph that TorchScript can run in parts. Plans refer to its nodes; planning changes nothing in it.
struct DividedModel {
  TypedModel typed;
  NodesKeptForOrder kept_for_order;
  std::vector<InputTuple> samples;  // bundled inputs, in the dtypes of the graph's inputs; none if forward keeps state
  std::vector<Warning> warnings;
};

class Frontend {
 public:
  // `loaded` has its arguments bound (bind_arguments()), and `options` are what that returned. Of the options all
  // callbacks are called, once for each stage and pass of the graph that NNAPI runs whole.
  Frontend(LoadedModel loaded, FrontendOptions options);

  const LoadedModel& loaded() const { return loaded_; }

  // Returns the graph for NNAPI alone, and adds what the stages warn of. Throws ConvertError (kNotConvertible) if the
  // inputs or --quant are impossible, and OriginalFails.
  const TypedModel& whole(Diagnostics& diagnostics);

  // Returns the graph for NNAPI and TorchScript. `recognises`: with operators that only NNAPI has. `kept`: composites
  // that stay whole. Throws as whole() does.
  std::shared_ptr<DividedModel> divided(bool recognises, const Composites& kept, Diagnostics& diagnostics);

  // Returns the graph that divided() gives, without operators that only NNAPI has, for the caller to change.
  NormalisedModel reference(const Composites& kept);

  // Returns what index_ranges() does.
  IndexRanges index_ranges(const std::vector<std::string>& names, const std::vector<TensorType>& types);

  // Returns how often the model was normalised.
  size_t normalisations() const { return normalisations_; }

  // Frees the modules and graphs, and weights that nothing else holds. Only loaded() may be called afterwards.
  void release();

 private:
  struct TypeRequest {
    RunBy run_by = RunBy::kNnapi;
    bool recognises = true;  // recognise() may insert operators that only NNAPI has
    Composites kept = {};    // stay the operators that they are
  };
  struct Divided {
    bool recognises;
    Composites kept;
    std::shared_ptr<DividedModel> model;
  };

  const FrozenModule& frozen();
  SizeConditions conditions_on(const NormalisedModel& model, const InputTypes& inputs, Diagnostics& diagnostics) const;
  InputTypes types_of_inputs(const NormalisedModel& model, const InferOptions& how, Diagnostics& diagnostics);
  TypedModel type(const TypeRequest& request, Diagnostics& diagnostics);

  LoadedModel loaded_;
  FrontendOptions options_;
  std::optional<FrozenModule> frozen_;
  std::vector<InputSpec> solved_;  // sizes that the weights told, for the second graph
  std::optional<TypedModel> whole_;
  std::exception_ptr whole_error_;  // what whole() throws
  Diagnostics of_whole_;
  std::vector<Divided> divided_;
  size_t normalisations_ = 0;
};

}  // namespace nnapi_convert
