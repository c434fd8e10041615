// SPDX-License-Identifier: BSD-3-Clause
// Makes random small models in PyTorch's order, and checks that a pass keeps a model's results.
#pragma once

#include <functional>

#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/small_models.h"

namespace nnapi_convert::nnapi::testing {

// Returns a random argument for each input of the model, in PyTorch's order.
std::vector<Tensor> random_arguments(Net& net);
// Runs choose_layout and checks that the caller's results stay the same and that NNAPI's rules hold at feature level 3.
void check_choose_layout(Net& net);
void check_same(const std::vector<Tensor>& before, const std::vector<Tensor>& after);
// Runs a pass and checks that the model's results for random arguments stay the same.
void check_keeps_results(Net& net, const std::function<void(Model&)>& pass);

// Fills an empty net: inputs (some NHWC), `operations` operations, one to three outputs.
void fill_randomly(Net& net, int operations);

}  // namespace nnapi_convert::nnapi::testing
