// SPDX-License-Identifier: BSD-3-Clause
// Archives that LibTorch reads back as they were, whatever shares memory in them.
#include "lib/converter/load/archive_writer.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/import.h>

#include <catch2/catch.hpp>

#include "lib/serialize/deferred_tensors.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;

namespace {

// Returns x + weight. The weight is a constant of the code, and an attribute of the same memory.
torch::jit::Module adder(const at::Tensor& weight) {
  torch::jit::Module module("Adder");
  module.register_buffer("weight", weight);
  module.define("def forward(self, x):\n  return x + self.weight\n");
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph();
  for (torch::jit::Node* node : graph->nodes()) {
    if (node->kind() != c10::prim::GetAttr) continue;
    const torch::jit::WithInsertPoint here(node);
    node->output()->replaceAllUsesWith(graph->insertConstant(weight));
  }
  return module;
}

}  // namespace

TEST_CASE("archive writer: a constant of the code has its memory in common with the state") {
  const at::Tensor weight = at::arange(1, 401, at::kFloat).reshape({20, 20});
  const test::TemporaryFolder folder;
  DeferredTensors none;
  torch::jit::Module module = adder(weight);
  write_module(module, none, folder.file("out.pt"), {});
  CHECK(weight.storage().nbytes() == 1600);
  const torch::jit::Module read = torch::jit::load(folder.file("out.pt"));
  CHECK(read.attr("weight").toTensor().equal(weight));
  const at::Tensor x = at::ones({20, 20});
  CHECK(read.get_method("forward")({x}).toTensor().equal(x + weight));
}

TEST_CASE("archive writer: attributes of one memory") {
  const at::Tensor weight = at::arange(1, 401, at::kFloat).reshape({20, 20});
  const test::TemporaryFolder folder;
  DeferredTensors none;
  torch::jit::Module module("Shares");
  module.register_buffer("weight", weight);
  module.register_buffer("same", weight);
  module.register_buffer("part", weight.narrow(0, 5, 3));
  write_module(module, none, folder.file("out.pt"), {});
  CHECK(weight.storage().nbytes() == 1600);
  const torch::jit::Module read = torch::jit::load(folder.file("out.pt"));
  CHECK(read.attr("same").toTensor().equal(weight));
  CHECK(read.attr("part").toTensor().equal(weight.narrow(0, 5, 3)));
}
