// Methods of a model besides forward that work with the attributes that forward changes: reset_states() and its like.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/changed_attributes.h"

namespace nnapi_convert {

struct KeptMethod {
  c10::FunctionSchema schema;                // of the original
  std::shared_ptr<torch::jit::Graph> graph;  // inlined; its attributes are those of the original
  torch::jit::Module original;
};

// The methods that read or change attributes of `state`, and can do so in the converted module: they read nothing else
// but numbers and strings, and change nothing that forward reads as a constant. Attributes that they alone change are
// added to `state`. Warns of each that can't be kept.
std::vector<KeptMethod> kept_methods(const torch::jit::Module& original, std::vector<StateAttribute>& state,
                                     Diagnostics& diagnostics);

// Puts the method into the converted module, whose attributes have the names in `state`.
void add_method(const torch::jit::Module& host, const KeptMethod& method, const std::vector<StateAttribute>& state);

}  // namespace nnapi_convert
