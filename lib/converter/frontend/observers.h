// SPDX-License-Identifier: BSD-3-Clause
// Handles networks that were trained with fake quantisation, and saved before convert(): their layers hold observers,
// which change the scales of a call while they are on.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>

namespace nnapi_convert {

// Replaces the switches of observers and of fake quantisation that nothing in the graph changes by constants, and fake
// quantisation whose observer is off by one whose scales stay as they are. Freezing then finds nothing that changes a
// scale. `graph` is forward of the module, with all calls inlined.
void settle_observers(std::shared_ptr<torch::jit::Graph> graph, const torch::jit::Module& module);

}  // namespace nnapi_convert
