// SPDX-License-Identifier: BSD-3-Clause
// Finds the steps of a float32 model that compute in float16 or bfloat16, as torch.autocast makes them.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <memory>
#include <vector>

#include "lib/converter/frontend/original_dtypes.h"

namespace nnapi_convert {

// Returns the dtypes of the tensors that come into `graph`, the forward of the frozen `module`. `arguments` are the
// dtypes that are stated for its inputs, by their numbers.
SourceDtypes sources_of_float32_model(const torch::jit::Module& module, torch::jit::Graph& graph,
                                      const StatedFloats& arguments);

// Returns false for a module that has no tensor in float16 or bfloat16, and whose forward makes none. It looks at each
// node once.
bool may_have_reduced_steps(const torch::jit::Module& module);

// Returns false for a graph that neither has nor makes a tensor in float16 or bfloat16; that an argument is stated to
// be one isn't enough. It looks at each node once.
bool may_have_reduced_steps(torch::jit::Graph& graph, const SourceDtypes& sources);

// Puts in the casts that TorchScript makes where a script is within torch.autocast, and removes the object that the
// script enters.
void apply_autocast(std::shared_ptr<torch::jit::Graph> graph);

// While it lives, no pass rounds weights to float16 or bfloat16 at once: casts take their dtype from a graph input.
class CastsLeftOpen {
 public:
  explicit CastsLeftOpen(std::shared_ptr<torch::jit::Graph> graph);
  ~CastsLeftOpen();
  CastsLeftOpen(const CastsLeftOpen&) = delete;
  CastsLeftOpen& operator=(const CastsLeftOpen&) = delete;

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  std::map<at::ScalarType, torch::jit::Value*> inputs_;
};

// Returns the dtypes, float16 or bfloat16, of the tensors that operators read for another purpose than to cast them.
std::vector<at::ScalarType> reduced_steps(torch::jit::Graph& graph, const OriginalDtypes& dtypes);

}  // namespace nnapi_convert
