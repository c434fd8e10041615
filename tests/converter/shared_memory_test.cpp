// SPDX-License-Identifier: BSD-3-Clause
// Tests which values of a graph share memory that a node changes.
#include "lib/converter/graph/shared_memory.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

// Says for each element of the tuple that a forward(self, x, y) returns whether a node may change it: "+" if one may.
std::string written(const std::string& body, const test::NamedTensors& attributes = {}) {
  const LoadedModel loaded = test::from_source("def forward(self, x, y):\n" + body, attributes);
  const std::shared_ptr<torch::jit::Graph> graph = loaded.module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  const SharedMemory memory(*graph, loaded.module);
  std::string result;
  for (const torch::jit::Value* element : graph->outputs()[0]->node()->inputs()) {
    result += memory.is_written(*element) ? "+" : "-";
  }
  return result;
}

}  // namespace

TEST_CASE("a change of a view changes what it is a view of, and other views of that") {
  CHECK(written("  a = x * 2\n  b = a[0]\n  c = a.t()\n  d = x * 3\n  b.add_(1)\n  return a, b, c, d\n") == "+++-");
}

TEST_CASE("a change of a list's or tuple's element changes the list, and no other list") {
  CHECK(written("  a = x * 2\n  b = y * 2\n  c = [a]\n  d = [b]\n  c[0].add_(1)\n  return a, b, c, d\n") == "+-+-");
  CHECK(written("  a = x * 2\n  b = y * 2\n  c = (a, 3)\n  d = (b, 3)\n  c[0].zero_()\n  return a, b, c, d\n") ==
        "+-+-");
}

TEST_CASE("a list that grows changes no tensor") {
  CHECK(written("  a = x * 2\n  b = y * 2\n  c = [a]\n  c.append(b)\n  return a, b, c\n") == "---");
  CHECK(written("  a = x * 2\n  b = y * 2\n  c = [a]\n  c.append(b)\n  d = c[0]\n  d.add_(1)\n  return a, b, c, d\n") ==
        "++++");
}

TEST_CASE("tensors that are joined share nothing by the list of them") {
  CHECK(written("  a = x * 2\n  b = y * 2\n  c = torch.cat([a, b])\n  a.add_(1)\n  return a, b, c\n") == "+--");
  CHECK(written("  a = x * 2\n  b = y * 2\n  c = torch.cat([a, b])\n  c.add_(1)\n  return a, b, c\n") == "--+");
}

TEST_CASE("tensors that an operator takes from a tensor are views of it") {
  CHECK(written("  a = x * 2\n  b, c = a.chunk(2)\n  d = b * 2\n  b.add_(1)\n  return a, b, c, d\n") == "+++-");
}

TEST_CASE("an operator whose schema promises a new tensor may return its argument") {
  CHECK(written("  a = x * 2\n  b = torch.einsum('ij->ij', [a])\n  b.add_(1)\n  return a, b\n") == "++");
}

TEST_CASE("branches and loops hand on the memory of what they return") {
  CHECK(written(
            "  a = x * 2\n  b = y * 2\n  c = a\n  if bool(x.sum() > 0):\n    c = b\n  c.add_(1)\n  return a, b, c\n") ==
        "+++");
  CHECK(written("  a = x * 2\n  b = y * 2\n  c = a\n  for i in range(int(x.sum())):\n    c = c[0:1]\n  c.add_(1)\n"
                "  return a, b, c\n") == "+-+");
}

TEST_CASE("each attribute has memory of its own, unless two are one tensor's") {
  const std::string body = "  self.one.add_(1)\n  a = self.one\n  b = self.two\n  return a, b\n";
  CHECK(written(body, {{"one", at::zeros({2})}, {"two", at::zeros({2})}}) == "+-");
  const at::Tensor same = at::zeros({4});
  CHECK(written(body, {{"one", same}, {"two", same.slice(0, 2)}}) == "++");
}

TEST_CASE("an attribute has the memory of what an earlier call put there") {
  CHECK(written("  a = self.one\n  b = self.two\n  a.add_(1)\n  self.one = b\n  return a, b\n",
                {{"one", at::zeros({2})}, {"two", at::zeros({2})}}) == "++");
}

}  // namespace nnapi_convert
