// SPDX-License-Identifier: BSD-3-Clause
// Quantised convolutions of PyTorch 1.5 compute what those of today do.
#include "lib/converter/load/old_convolutions.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "tests/converter/fixtures.h"

using namespace nnapi_convert;
using namespace nnapi_convert::test;

namespace {

// Resolves "quantized" in a source to the operators of quantized::.
struct WithQuantised : torch::jit::Resolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string& name, torch::jit::GraphFunction& function,
                                                         const torch::jit::SourceRange& where) override {
    if (name == "quantized") return std::make_shared<torch::jit::BuiltinModule>(name);
    return torch::jit::nativeResolver()->resolveValue(name, function, where);
  }
};

// A quantised convolution within a branch. `arguments` stand before its scale.
torch::jit::Module convolution(const std::string& arguments) {
  torch::jit::Module module("convolution");
  const at::Tensor weight = at::quantize_per_tensor(random_floats({4, 3, 3, 3}, 1), 0.05, 0, at::kQInt8);
  module.register_attribute("weight", c10::TensorType::get(), weight);
  module.register_attribute("bias", c10::TensorType::get(), random_floats({4}, 2));
  module.define(
      "def forward(self, x):\n"
      "  packed = quantized.conv2d_prepack(self.weight, self.bias, [2, 2], [1, 1], [1, 1], 1)\n"
      "  y = x\n"
      "  if x.size(0) > 0:\n"
      "    y = quantized.conv2d_relu(x, packed" +
          arguments + ", 0.1, 3)\n  return y\n",
      std::make_shared<WithQuantised>());
  return module;
}

size_t arguments_of_convolution(const torch::jit::Block& block) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (node->kind() == c10::Symbol::fromQualString("quantized::conv2d_relu")) return node->inputs().size();
    for (const torch::jit::Block* inner : node->blocks()) {
      if (const size_t count = arguments_of_convolution(*inner); count != 0) return count;
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("old convolutions: arguments that the packed weights hold, too, are dropped, in blocks as well") {
  use_host_nnapi();
  const torch::jit::Module expected = convolution(""), old = convolution(", [2, 2], [1, 1], [1, 1], 1");
  const torch::jit::Block& block = *old.get_method("forward").graph()->block();
  REQUIRE(arguments_of_convolution(block) == 8);
  drop_repeated_arguments(old);
  CHECK(arguments_of_convolution(block) == 4);
  const at::Tensor x = quantised(random_floats({1, 3, 8, 8}, 3), 0.02, 120);
  CHECK(run(old, {x}).toTensor().equal(run(expected, {x}).toTensor()));
}
