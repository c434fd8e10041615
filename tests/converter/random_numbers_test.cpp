// SPDX-License-Identifier: BSD-3-Clause
// Operators that draw random numbers only if the model is trained.
#include "lib/converter/graph/random_numbers.h"

#include <torch/csrc/jit/ir/irparser.h>

#include <catch2/catch.hpp>

using namespace nnapi_convert;

namespace {

// Returns whether the last node of a graph with %x, %on (true) and %off (false) draws random numbers.
bool last_draws(const std::string& call) {
  torch::jit::Graph graph;
  torch::jit::parseIR(R"(
graph(%x : Tensor):
  %on : bool = prim::Constant[value=1]()
  %off : bool = prim::Constant[value=0]()
  %half : float = prim::Constant[value=0.5]()
  %none : NoneType = prim::Constant()
  %y : Tensor = )" + call +
                          R"(
  return (%y))",
                      &graph);
  return draws_random_numbers(*graph.outputs()[0]->node());
}

}  // namespace

TEST_CASE("draws_random_numbers: only if the model is trained") {
  CHECK(last_draws("aten::rrelu(%x, %half, %half, %on, %none)"));
  CHECK_FALSE(last_draws("aten::rrelu(%x, %half, %half, %off, %none)"));
  CHECK(last_draws("aten::dropout(%x, %half, %on)"));
  CHECK_FALSE(last_draws("aten::dropout(%x, %half, %off)"));
}

TEST_CASE("draws_random_numbers: always, and never") {
  CHECK(last_draws("aten::bernoulli(%x, %none)"));
  CHECK_FALSE(last_draws("aten::relu(%x)"));
}
