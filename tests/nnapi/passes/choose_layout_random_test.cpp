// SPDX-License-Identifier: BSD-3-Clause
// Random models give equal results before and after the passes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "lib/nnapi/dump.h"
#include "lib/nnapi/passes/choose_layout.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/fold_affine.h"
#include "lib/nnapi/passes/fuse_activation.h"
#include "tests/nnapi/passes/random_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::Net;
using testing::Tensor;

namespace {

// Checks NNAPI's rules for outputs: an operation writes each output, and no operand is two outputs.
bool has_proper_outputs(const Model& model) {
  const Uses uses(model);
  std::set<OperandId> seen;
  return std::all_of(model.outputs.begin(), model.outputs.end(), [&](const Boundary& output) {
    return uses.producer[static_cast<size_t>(output.operand)] >= 0 && seen.insert(output.operand).second;
  });
}

}  // namespace

TEST_CASE("choose_layout: random models compute the same afterwards") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Net net;
    net.random.seed(seed);
    testing::fill_randomly(net, 2 + static_cast<int>(seed % 9));
    INFO("seed " << seed);
    testing::check_choose_layout(net);
    REQUIRE(has_proper_outputs(net.model));
  }
}

TEST_CASE("all passes: random models compute the same afterwards") {
  for (unsigned seed = 1000; seed < 1300; ++seed) {
    Net net;
    net.random.seed(seed);
    testing::fill_randomly(net, 2 + static_cast<int>(seed % 9));
    const std::vector<Tensor> arguments = testing::random_arguments(net);
    Model as_written = net.model;
    for (Boundary& input : as_written.inputs) input.nhwc = false;
    const std::vector<Tensor> before = testing::run(as_written, arguments);
    INFO("seed " << seed << "\n" << to_text(as_written));
    fold_affine(net.model);
    fuse_activation(net.model);
    choose_layout(net.model);
    compact(net.model);
    INFO(to_text(net.model));
    testing::check_same(before, testing::run(net.model, arguments));
    REQUIRE(has_proper_outputs(net.model));
  }
}
