// Brings a module's forward into one graph of canonical operations: attributes frozen to constants, calls inlined,
// in-place operations made functional.
#pragma once

#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/load.h"
#include "lib/converter/normalised_model.h"

namespace nnapi_convert {

// Throws ConvertError (kNotConvertible) for a signature that can't be kept: inputs that are no tensors, or outputs that
// are no tensors, tuples or lists.
// Printing, warning and raising are dropped.
NormalisedModel normalise(const LoadedModel& loaded, Diagnostics& diagnostics);

// For a model that is partitioned: inputs and results may be of any type, and effects stay. `input_names` are those
// that
// --input gives. Of a result, `outputs` and `return_tree` have the tensors that are known before the model runs.
NormalisedModel normalise_for_parts(const LoadedModel& loaded, const std::vector<std::string>& input_names,
                                    Diagnostics& diagnostics);

// True for a node that makes a tuple, list or dict whose elements are known before the model runs.
bool has_known_elements(const torch::jit::Node& node);

// Reads `outputs` and `return_tree` of such a model again: inference may make more known.
void find_outputs(NormalisedModel& model);

// Makes the graph of such a model return the values in `outputs`, which may have been exchanged.
void return_outputs(NormalisedModel& model);

}  // namespace nnapi_convert
