// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/closed_evaluation.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <catch2/catch.hpp>

using namespace nnapi_convert;

namespace {

constexpr int64_t kElements = 64;

// Leaves numbers in memory that the next tensor of the size gets.
void use_memory() {
  const at::Tensor used = at::full({kElements}, 7, at::TensorOptions(at::kLong));
  REQUIRE(used.sum().item<int64_t>() == 7 * kElements);
}

at::Tensor evaluated(const std::string& text) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get());
  torch::jit::Node* node = graph->outputs()[0]->node();
  TypeMap types;
  for (const torch::jit::Value* input : graph->inputs()) types[input] = TensorType{at::kLong, {Dim(kElements)}, {}};
  use_memory();
  const auto results = evaluate(*node, types);
  REQUIRE(results.size() == 1);
  return torch::jit::toIValue(results[0])->toTensor();
}

}  // namespace

TEST_CASE("Memory that nothing has written to is evaluated as zeros", "[closed_evaluation]") {
  const char* like = R"(graph(%x : Tensor):
      %none : NoneType = prim::Constant()
      %made : Tensor = aten::empty_like(%x, %none, %none, %none, %none, %none)
      return (%made))";
  const char* of_sizes = R"(graph():
      %none : NoneType = prim::Constant()
      %dtype : int = prim::Constant[value=4]()
      %sizes : int[] = prim::Constant[value=[64]]()
      %made : Tensor = aten::empty(%sizes, %dtype, %none, %none, %none, %none)
      return (%made))";
  for (const char* text : {like, of_sizes})
    CHECK(evaluated(text).equal(at::zeros({kElements}, at::TensorOptions(at::kLong))));
}

TEST_CASE("new_ones() reads the dtype of its argument, and no open size", "[closed_evaluation]") {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(R"(graph(%x : Tensor):
      %none : NoneType = prim::Constant()
      %sizes : int[] = prim::Constant[value=[2]]()
      %made : Tensor = aten::new_ones(%x, %sizes, %none, %none, %none, %none)
      return (%made))",
                      graph.get());
  TypeMap types;
  types[graph->inputs()[0]] = TensorType{at::kInt, {Dim::of_input(0, 0)}, {}};
  const auto results = evaluate(*graph->outputs()[0]->node(), types);
  REQUIRE(results.size() == 1);
  CHECK(torch::jit::toIValue(results[0])->toTensor().equal(at::ones({2}, at::TensorOptions(at::kInt))));
}
