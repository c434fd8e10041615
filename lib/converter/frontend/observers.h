// SPDX-License-Identifier: BSD-3-Clause
// Networks that were trained with fake quantisation, and saved before convert(): their layers hold observers, which
// change the scales of a call while they are on.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace nnapi_convert {

// Puts the switches of observers and of fake quantisation, which nothing in the graph changes, as constants into the
// graph, and fake quantisation by scales that stay as they are in the place of one whose observer is off. Freezing then
// finds nothing that changes a scale. `graph` is forward of the module, with all calls inlined.
void settle_observers(std::shared_ptr<torch::jit::Graph> graph, const torch::jit::Module& module);

}  // namespace nnapi_convert
