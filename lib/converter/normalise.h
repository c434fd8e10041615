// Brings a module's forward into one graph of canonical operations: attributes frozen to constants, calls inlined,
// in-place operations made functional.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/load.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

struct NormalisedModel {
  torch::jit::Module frozen;  // owns the constants
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<torch::jit::Value*> inputs;  // without self
  std::vector<std::string> input_names;
  std::vector<torch::jit::Value*> outputs;  // the tensors of the return tree, in its order; one may come twice
  ReturnTree return_tree;
};

// Throws ConvertError (kNotConvertible) for a signature that can't be kept: inputs that are no tensors, or outputs that
// are no tensors, tuples or lists.
// Printing, warning and raising are dropped unless `keeps_effects`.
NormalisedModel normalise(const LoadedModel& loaded, Diagnostics& diagnostics, bool keeps_effects = false);

}  // namespace nnapi_convert
