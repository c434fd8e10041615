// A model as one graph of canonical operations, which the stages from inference to lowering read and change.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/serialize/argument_tree.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// What runs a graph: NNAPI alone, or NNAPI in parts of it and TorchScript around them.
enum class RunBy { kNnapi, kNnapiAndCpu };

struct NormalisedModel {
  RunBy run_by = RunBy::kNnapi;
  torch::jit::Module frozen;  // owns the constants
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<torch::jit::Value*> inputs;  // tensors only
  std::vector<std::string> input_names;
  std::vector<torch::jit::Value*> outputs;  // the tensors of the return tree, in its order; one may come twice
  ReturnTree return_tree;
  ForwardArguments arguments;  // where the CPU runs parts: inputs of the graph, behind self, are their leaves
};

}  // namespace nnapi_convert
