// SPDX-License-Identifier: BSD-3-Clause
// Turns a module's forward into one graph of canonical operations: freezes attributes to constants, inlines calls,
// makes in-place operations functional.
#pragma once

#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {

struct NormaliseOptions {
  RunBy run_by = RunBy::kNnapi;
  std::vector<std::string> input_names = {};  // names given by --input; they tell the structure of arguments
  bool may_split = false;                     // a model that is refused is split: messages give no advice to do so
};

// If NNAPI runs the graph alone, drops printing, warning and raising, and throws ConvertError (kNotConvertible) for
// inputs that are no tensors, and for outputs that are no tensors, tuples, lists or dicts of tensors. If the CPU runs
// parts, inputs and results may have any type, and effects stay; `outputs` and `return_tree` then have the tensors of
// the result that are known before the model runs. `frozen` is that of `loaded`, and stays as it is.
NormalisedModel normalise(const LoadedModel& loaded, const FrozenModule& frozen, const NormaliseOptions& options,
                          Diagnostics& diagnostics);
// Freezes the module and normalises it, where nothing else needs the frozen module. Throws as frozen_module() does,
// too.
NormalisedModel normalise(const LoadedModel& loaded, const NormaliseOptions& options, Diagnostics& diagnostics);

// Makes changes of tensors in place functional (remove_inplace.h), and notes the inputs that it takes to be apart.
void remove_changes_in_place(NormalisedModel& model, Diagnostics& diagnostics);

// True for a node that makes a tuple, list or dict whose elements are known before the model runs.
bool has_known_elements(const torch::jit::Node& node);

// If the CPU runs parts: finds `outputs` and `return_tree` again. Call it after inference, which makes more known.
void find_outputs(NormalisedModel& model);

// If the CPU runs parts: makes the graph return the values in `outputs`, some of which may have been replaced.
void return_outputs(NormalisedModel& model);

}  // namespace nnapi_convert
