// Brings a module's forward into one graph of canonical operations: attributes frozen to constants, calls inlined,
// in-place operations made functional.
#pragma once

#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {

struct NormaliseOptions {
  RunBy run_by = RunBy::kNnapi;
  std::vector<std::string> input_names = {};  // that --input gives; arguments are put together by them
};

// Where NNAPI runs the graph alone, printing, warning and raising are dropped, and ConvertError (kNotConvertible) is
// thrown for a signature that can't be kept: inputs that are no tensors, or outputs that are no tensors, tuples, lists
// or dicts of them. Where the CPU runs parts, inputs and results may be of any type, and effects stay; of a result,
// `outputs` and `return_tree` have the tensors that are known before the model runs.
NormalisedModel normalise(const LoadedModel& loaded, const NormaliseOptions& options, Diagnostics& diagnostics);

// True for a node that makes a tuple, list or dict whose elements are known before the model runs.
bool has_known_elements(const torch::jit::Node& node);

// Where the CPU runs parts: reads `outputs` and `return_tree` again, as inference may make more known.
void find_outputs(NormalisedModel& model);

// Where the CPU runs parts: makes the graph return the values in `outputs`, which may have been exchanged.
void return_outputs(NormalisedModel& model);

}  // namespace nnapi_convert
