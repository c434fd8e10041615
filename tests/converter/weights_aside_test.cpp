// SPDX-License-Identifier: BSD-3-Clause
// Tests which weights freezing doesn't see, and that they come back.
#include "lib/converter/frontend/weights_aside.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <catch2/catch.hpp>

#include "lib/converter/frontend/freeze.h"
#include "lib/converter/graph/node_reads.h"
#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

// How many weights of a forward are put aside. `body` begins with two spaces in each line.
size_t put_aside(const std::string& body, const test::NamedTensors& tensors,
                 const std::vector<AttributePath>& kept = {}) {
  const LoadedModel loaded = test::from_source("def forward(self, x):\n" + body, tensors);
  const std::shared_ptr<torch::jit::Graph> graph = loaded.module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  const size_t inputs = graph->inputs().size();
  const WeightsAside weights(loaded.module, graph, kept);
  CHECK(graph->inputs().size() == inputs + weights.size());
  weights.put_back(graph);
  CHECK(graph->inputs().size() == inputs);
  graph->lint();
  return weights.size();
}

std::shared_ptr<torch::jit::Graph> frozen_graph(const LoadedModel& loaded) {
  return frozen_module(loaded).module.get_method("forward").graph();
}

size_t count_nodes(torch::jit::Graph& graph, const std::string& kind) {
  size_t count = 0;
  for_each_node(graph, [&](const torch::jit::Node& node) { count += node.kind().toQualString() == kind ? 1 : 0; });
  return count;
}

at::Tensor weight() {
  return test::random_floats({4, 4}, 3);
}

}  // namespace

TEST_CASE("weights that forward only reads are put aside, each once") {
  CHECK(put_aside("  return x @ self.a + self.b\n", {{"a", weight()}, {"b", weight()}}) == 2);
  CHECK(put_aside("  return x @ self.a + self.a\n", {{"a", weight()}}) == 1);
  const at::Tensor both = weight();
  CHECK(put_aside("  return x @ self.a + self.b\n", {{"a", both}, {"b", both}}) == 1);
  CHECK(put_aside("  y = x\n  if bool(x.sum() > 0):\n    y = x + self.a\n  return y\n", {{"a", weight()}}) == 1);
}

TEST_CASE("weights that forward may change stay where they are") {
  CHECK(put_aside("  self.a.add_(1.0)\n  return x + self.a\n", {{"a", weight()}}) == 0);
  CHECK(put_aside("  y = x + self.a\n  self.a = y\n  return y\n", {{"a", weight()}}) == 0);
  CHECK(put_aside("  self.a[0].mul_(2.0)\n  return x + self.a + self.b\n", {{"a", weight()}, {"b", weight()}}) == 1);
}

TEST_CASE("constants that nothing changes are put aside, too") {
  const LoadedModel loaded = test::from_source("def forward(self, x):\n  return x + self.a\n", {{"a", weight()}});
  const std::shared_ptr<torch::jit::Graph> graph = loaded.module.get_method("forward").graph()->copy();
  torch::jit::Node* sum = graph->return_node()->input(0)->node();
  sum->replaceInput(1, [&] {
    const torch::jit::WithInsertPoint here(sum);
    return graph->insertConstant(weight());
  }());
  CHECK(WeightsAside(loaded.module, graph->copy(), {}).size() == 2);  // the read of a, which is left, and the constant
  const torch::jit::WithInsertPoint here(graph->return_node());
  graph->insert(c10::aten::add_, {sum->input(1), 1});
  CHECK(WeightsAside(loaded.module, graph->copy(), {}).size() == 1);
}

TEST_CASE("weights in the memory of a changed one stay where they are") {
  const at::Tensor whole = weight();
  const std::string body = "  self.a.add_(1.0)\n  return x + self.b + self.c\n";
  CHECK(put_aside(body, {{"a", whole}, {"b", whole.t()}, {"c", weight()}}) == 1);
  CHECK(put_aside("  return x + self.a + self.b\n", {{"a", whole}, {"b", whole.t()}}, {AttributePath{"a"}}) == 0);
}

TEST_CASE("weights of graphs that may hide a change stay where they are") {
  const LoadedModel loaded = test::from_source("def forward(self, x):\n  return x + self.a\n", {{"a", weight()}});
  const auto kind = GENERATE(c10::prim::CallMethod, c10::prim::CallFunction, c10::prim::fork);
  const std::shared_ptr<torch::jit::Graph> graph = loaded.module.get_method("forward").graph()->copy();
  graph->insertNode(graph->create(kind, {graph->inputs()[0]}));
  CHECK(WeightsAside(loaded.module, graph, {}).size() == 0);
  CHECK(graph->inputs().size() == 2);
}

TEST_CASE("frozen graphs have the weights as constants with the values of the attributes") {
  const at::Tensor a = weight();
  const at::Tensor b = test::random_floats({2, 4}, 6);
  const LoadedModel loaded =
      test::from_source("def forward(self, x):\n  return x @ self.a.t() + self.b\n", {{"a", a}, {"b", b}});
  const torch::jit::Module frozen = frozen_module(loaded).module;
  const std::shared_ptr<torch::jit::Graph> graph = frozen.get_method("forward").graph();
  CHECK(graph->inputs().size() == 2);
  CHECK(count_nodes(*graph, "prim::GetAttr") == 0);
  CHECK(count_nodes(*graph, "aten::t") == 0);  // computed
  const at::Tensor x = test::random_floats({2, 4}, 4);
  CHECK(test::run(frozen, {x}).toTensor().allclose(at::matmul(x, a.t()) + b));
}

TEST_CASE("a branch on a weight's size is decided") {
  const std::string body = "def forward(self, x):\n  if self.a.size(0) > 2:\n    x = x + self.a\n  return x\n";
  const std::shared_ptr<torch::jit::Graph> graph = frozen_graph(test::from_source(body, {{"a", weight()}}));
  CHECK(count_nodes(*graph, "prim::If") == 0);
  CHECK(count_nodes(*graph, "aten::add") == 1);
}

TEST_CASE("a weight without gradients and one with them freeze alike") {
  const at::Tensor trained = weight().requires_grad_();
  const LoadedModel loaded = test::from_source("def forward(self, x):\n  return x + self.a\n", {{"a", trained}});
  const torch::jit::Module frozen = frozen_module(loaded).module;
  const at::Tensor x = test::random_floats({4, 4}, 5);
  CHECK(test::run(frozen, {x}).toTensor().equal(x + weight()));
}

}  // namespace nnapi_convert
