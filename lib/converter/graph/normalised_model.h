// SPDX-License-Identifier: BSD-3-Clause
// A model as one graph of canonical operations. The stages from infer to lower read and change the graph.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/serialize/argument_tree.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Says whether NNAPI runs the whole graph, or runs parts of it with TorchScript around them.
enum class RunBy { kNnapi, kNnapiAndCpu };

struct NormalisedModel {
  RunBy run_by = RunBy::kNnapi;
  torch::jit::Module frozen;  // owns the constants
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<torch::jit::Value*> inputs;  // tensors only
  std::vector<std::string> input_names;
  std::vector<size_t> changed_inputs;  // numbers of inputs that the original changes in place, apart from all others
  std::vector<torch::jit::Value*> outputs;  // the tensors of the return tree, in its order; one may come twice
  ReturnTree return_tree;
  // The leaves of forward's arguments are the graph's inputs after self. Empty with kNnapi, unless an argument has one
  // value.
  ForwardArguments arguments;
  c10::TypePtr declared;               // with kNnapiAndCpu: the type of the result that forward declares
  std::vector<Warning> warnings = {};  // about replacements of nodes; type_model() passes them on
};

}  // namespace nnapi_convert
