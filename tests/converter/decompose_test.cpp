// SPDX-License-Identifier: BSD-3-Clause
// Fused operations taken apart give what they give whole, on stock PyTorch.
#include "lib/ops/decompositions.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/freeze_module.h>

#include <catch2/catch.hpp>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using Catch::Contains;
using Sizes = std::map<std::string, std::vector<int64_t>>;

constexpr const char* kWeights = "self.w, self.b, self.p, self.c";
const Sizes kAttention = {{"w", {24, 8}}, {"b", {24}}, {"p", {8, 8}}, {"c", {8}}};
const Sizes kLayer = {{"w", {24, 8}}, {"b", {24}}, {"p", {8, 8}},  {"c", {8}},   {"g", {8}},     {"h", {8}},
                      {"g2", {8}},    {"h2", {8}}, {"f", {16, 8}}, {"fb", {16}}, {"s", {8, 16}}, {"sb", {8}}};

torch::jit::Module module_of(const Sizes& weights, const std::string& source) {
  torch::jit::Module module("Test");
  module.register_attribute("training", c10::BoolType::get(), false);
  uint64_t seed = 1;
  for (const auto& [name, sizes] : weights) module.register_buffer(name, test::random_floats(sizes, seed++));
  module.define(source);
  return module;
}

void decompose(torch::jit::Graph& graph) {
  const std::vector<torch::jit::Node*> nodes(graph.nodes().begin(), graph.nodes().end());
  for (torch::jit::Node* node : nodes) {
    if (const Decomposition* decomposition = find_decomposition(*node)) decomposition->replace(node);
  }
}

// The graph without the operation, and the largest difference of the results, over their range.
struct Decomposed {
  std::string graph;
  double error;
};

Decomposed decomposed(const Sizes& weights, const std::string& source, const at::Tensor& input) {
  const torch::jit::Module original = module_of(weights, source);
  const torch::jit::Module frozen = torch::jit::freeze_module(original.deepcopy());
  const auto graph = frozen.get_method("forward").graph();
  decompose(*graph);
  graph->lint();
  const at::Tensor expected = test::run(original, {input}).toTensor();
  return {graph->toString(false), test::relative_error(expected, test::run(frozen, {input}).toTensor())};
}

std::string attention(const std::string& arguments) {
  return std::string(
             "def forward(self, x: Tensor) -> Tensor:\n  return torch._native_multi_head_attention(x, x, x, 8, "
             "2, ") +
         kWeights + ", " + arguments;
}

std::string layer(const std::string& use_gelu, const std::string& norm_first, const std::string& rest = "") {
  return std::string(
             "def forward(self, x: Tensor) -> Tensor:\n  return torch._transformer_encoder_layer_fwd(x, 8, 2, ") +
         kWeights + ", " + use_gelu + ", " + norm_first +
         ", 1e-5, self.g, self.h, self.g2, self.h2, self.f, self.fb, self.s, self.sb" + rest + ")\n";
}

}  // namespace

TEST_CASE("multi-head attention") {
  const at::Tensor input = test::random_floats({3, 5, 8}, 100);
  for (const char* arguments : {"None, False)[0]\n", "None, True, True)[1]\n", "None, True, False)[1]\n"}) {
    const Decomposed found = decomposed(kAttention, attention(arguments), input);
    CHECK_THAT(found.graph, !Contains("_native_multi_head_attention") && Contains("aten::softmax"));
    CHECK(found.error < 1e-5);
  }
}

TEST_CASE("a mask of keys") {
  Sizes weights = kAttention;
  weights["m"] = {3, 5};
  const Decomposed found =
      decomposed(weights, attention("self.m > 0, False, True, 1)[0]\n"), test::random_floats({3, 5, 8}, 100));
  CHECK_THAT(found.graph, !Contains("_native_multi_head_attention"));
  CHECK(found.error < 1e-5);
}

TEST_CASE("a mask of keys in floats") {
  Sizes weights = kAttention;
  weights["m"] = {3, 5};
  for (const char* mask :
       {"torch.zeros_like(self.m).masked_fill(self.m > 0.5, -1e9)", "(x[:, :, 0] > 1).float() * -9"}) {
    const std::string arguments = std::string(mask) + ", False, True, 1)[0]\n";
    const Decomposed found = decomposed(weights, attention(arguments), test::random_floats({3, 5, 8}, 100));
    CHECK_THAT(found.graph, !Contains("_native_multi_head_attention"));
    CHECK(found.error < 1e-5);
  }
}

TEST_CASE("a mask of another kind is left") {
  Sizes weights = kAttention;
  weights["m"] = {5, 5};
  const torch::jit::Module module = module_of(weights, attention("self.m > 0, False, True, 2)[0]\n"));
  const auto graph = torch::jit::freeze_module(module).get_method("forward").graph();
  decompose(*graph);
  CHECK_THAT(graph->toString(false), Contains("_native_multi_head_attention"));
}

TEST_CASE("transformer encoder layers") {
  const at::Tensor input = test::random_floats({2, 5, 8}, 100);
  for (const char* use_gelu : {"False", "True"}) {
    for (const char* norm_first : {"False", "True"}) {
      const Decomposed found = decomposed(kLayer, layer(use_gelu, norm_first), input);
      CHECK_THAT(found.graph, !Contains("_transformer_encoder_layer_fwd") && Contains("aten::layer_norm"));
      CHECK(found.error < 1e-5);
    }
  }
}

}  // namespace nnapi_convert
