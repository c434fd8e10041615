// SPDX-License-Identifier: BSD-3-Clause
// Methods of a model besides forward that work with the attributes that forward changes: reset_states() and its like.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/serialize/class_copies.h"

namespace nnapi_convert {

struct KeptMethod {
  c10::FunctionSchema schema;                // of the original
  std::shared_ptr<torch::jit::Graph> graph;  // inlined; its attributes are those of the original
  torch::jit::Module original;
};

// Says which methods are kept, besides those that are converted.
struct MethodChoice {
  std::vector<std::string> converted = {"forward"};
  bool keeps_all = false;  // as they are, with their weights; false: only those that work with the state
};

// Returns the methods that read or change attributes of `state`, and can do so in the converted module: they read
// nothing else but numbers and strings, and change nothing that forward reads as a constant. Adds attributes that they
// alone change to `state`. Warns of each method that can't be kept. If all are to be kept, they may read other
// attributes, too; throws ConvertError (kNotConvertible) if forward can't be kept then.
std::vector<KeptMethod> kept_methods(const torch::jit::Module& original, const MethodChoice& which,
                                     std::vector<StateAttribute>& state, Diagnostics& diagnostics);

// Hosts of several methods have a common object that holds the state, in their attribute of this name.
constexpr const char* kStateHolder = "nnapi_state";

// Adds the attributes of the state to their holder.
void add_state(torch::jit::Module& holder, const std::vector<StateAttribute>& state, ClassCopies& classes);

// Returns the value whose attributes are the state: kStateHolder of `self` if there is one, else `self`.
torch::jit::Value* holder_of_state(torch::jit::Graph& graph, torch::jit::Value* self);

// Puts the method into the converted module, whose attributes have the names in `state`.
void add_method(const torch::jit::Module& host, const KeptMethod& method, const std::vector<StateAttribute>& state);

}  // namespace nnapi_convert
