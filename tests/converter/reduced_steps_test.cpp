// SPDX-License-Identifier: BSD-3-Clause
// Tests which steps of a float32 model are made to compute in float32, and which dtypes its results keep.
#include "lib/converter/frontend/reduced_steps.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "lib/converter/frontend/freeze.h"
#include "lib/converter/graph/node_reads.h"
#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using Dtypes = std::vector<at::ScalarType>;

FrozenModule model(const std::string& body, const test::NamedTensors& tensors = {}) {
  return frozen_module(test::from_source("def forward(self, x):\n" + body, tensors));
}

// Runs the frozen model on float32 numbers.
at::Tensor result_of(const FrozenModule& frozen) {
  return test::run(frozen.module, {test::random_floats({2, 4}, 1)}).toTensor();
}

size_t casts_to(const FrozenModule& frozen, at::ScalarType dtype) {
  size_t count = 0;
  for_each_node(*frozen.module.get_method("forward").graph(),
                [&](const torch::jit::Node& node) { count += asked_dtype(node) == dtype ? 1 : 0; });
  return count;
}

at::Tensor numbers() {
  return test::random_floats({4, 4}, 3);
}

}  // namespace

TEST_CASE("steps in float16 and bfloat16 compute in float32") {
  const FrozenModule half = model("  return torch.tanh(x.to(5)).to(6)\n");
  CHECK(half.reduced_steps == Dtypes{at::kHalf});
  CHECK(casts_to(half, at::kHalf) == 0);
  CHECK(at::equal(result_of(half), test::random_floats({2, 4}, 1).tanh()));
  const FrozenModule both = model("  return torch.tanh(x.to(5)).to(6) + torch.sin(x.to(15)).to(6)\n");
  CHECK(both.reduced_steps == Dtypes{at::kHalf, at::kBFloat16});
}

TEST_CASE("weights that a cast would round stay as they are") {
  const std::string product = "  return torch.matmul(x.to(15), self.w.to(15)).to(6)\n";
  CHECK(
      at::equal(result_of(model(product, {{"w", numbers()}})), at::matmul(test::random_floats({2, 4}, 1), numbers())));
}

TEST_CASE("results keep their dtype") {
  CHECK(result_of(model("  return torch.tanh(x.to(5))\n")).scalar_type() == at::kHalf);
  const test::NamedTensors norm = {{"w", at::ones({4})}};
  const FrozenModule normalised = model("  return torch.layer_norm(torch.tanh(x.to(15)), [4], self.w, self.w)\n", norm);
  CHECK(result_of(normalised).scalar_type() == at::kBFloat16);
  const FrozenModule promoted = model("  return torch.tanh(x.to(15)) * self.w\n", norm);
  CHECK(result_of(promoted).scalar_type() == at::kFloat);
}

TEST_CASE("a model whose tensors are only cast has no such step") {
  for (const char* body : {"  return torch.tanh(x).to(5)\n", "  return torch.tanh(x.to(5).to(6))\n",
                           "  return x.to(7)\n", "  return torch.tanh(x.to(7)).to(6)\n"}) {
    CAPTURE(body);
    CHECK(model(body).reduced_steps.empty());
  }
  const FrozenModule stored = model("  return torch.matmul(x, self.w.to(6))\n", {{"w", numbers().to(at::kHalf)}});
  CHECK(stored.reduced_steps.empty());
}

TEST_CASE("a state in float16 of a float32 model keeps its dtype") {
  const FrozenModule frozen = model("  h = torch.tanh(self.h).to(6) + x\n  self.h = h.to(5)\n  return h + self.w\n",
                                    {{"h", at::zeros({2, 4}, at::kHalf)}, {"w", at::ones({4})}});
  CHECK(frozen.reduced_steps == Dtypes{at::kHalf});
  result_of(frozen);
  CHECK(frozen.module.attr("h").toTensor().scalar_type() == at::kHalf);
  CHECK(result_of(frozen).scalar_type() == at::kFloat);
}

}  // namespace nnapi_convert
