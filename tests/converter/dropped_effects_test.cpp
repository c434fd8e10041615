// SPDX-License-Identifier: BSD-3-Clause
// Tests the warnings about effects that a model loses when NNAPI runs it whole.
#include "lib/converter/frontend/dropped_effects.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/jit.h>

#include <catch2/catch.hpp>

namespace nnapi_convert {
namespace {

using Catch::Contains;

std::vector<std::string> warnings_of(const std::string& body) {
  const auto unit = torch::jit::compile("def forward(x):\n" + body);
  const auto graph = torch::jit::toGraphFunction(unit->get_function("forward")).graph()->copy();
  Diagnostics diagnostics;
  warn_of_dropped_effects(*graph, diagnostics);
  return messages_of(diagnostics.warnings);
}

}  // namespace

TEST_CASE("an error that depends on values is named") {
  const std::string body =
      GENERATE("  if bool(x.mean() > 0):\n    assert False\n  return x\n",
               "  assert float(x.max()) * 2.0 < 1.0 and x.dim() == 4\n  return x\n",
               "  values: List[float] = x.tolist()\n  if values[0] > 1.0:\n    assert False\n  return x\n",
               "  assert torch.allclose(x, x + 1.0)\n  return x\n",
               "  for i in range(int(x.sum())):\n    if x.dim() == 4:\n      assert False\n  return x\n",
               "  n = 0\n  if x.dim() == 4:\n    n = int(x.sum())\n  if n > 3:\n    assert False\n  return x\n");
  CAPTURE(body);
  const auto found = warnings_of(body);
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Contains("depends on the values of tensors"));
}

TEST_CASE("an error that depends on sizes and types is none") {
  const std::string body =
      GENERATE("  if x.dim() != 4:\n    assert False\n  return x\n", "  assert x.size(1) * 2 == 8\n  return x\n",
               "  y = x * float(x.size(1))\n  if y.size(1) > 4:\n    assert False\n  return y\n",
               "  if x.is_floating_point():\n    return x\n  else:\n    assert False\n");
  CAPTURE(body);
  CHECK(warnings_of(body).empty());
}

TEST_CASE("what is printed is named") {
  const auto found = warnings_of("  print(x.dim())\n  return x\n");
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Contains("doesn't print"));
}

}  // namespace nnapi_convert
