// Tests which reads of an attribute without elements are marked as reads of one that has them.
#include "lib/converter/graph/filled_state.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "lib/converter/graph/node_reads.h"
#include "lib/converter/normalise/normalise.h"
#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

// `body` begins with two spaces in each line.
size_t marked_reads(const std::string& body) {
  const LoadedModel loaded = test::from_source("def forward(self, x):\n" + body, {{"state", at::zeros({0})}});
  Diagnostics diagnostics;
  const NormalisedModel model = normalise(loaded, {RunBy::kNnapiAndCpu}, diagnostics);
  size_t count = 0;
  for_each_node(*model.graph, [&](const torch::jit::Node& node) { count += is_filled_read(node) ? 1 : 0; });
  return count;
}

}  // namespace

TEST_CASE("reads of an attribute are marked where it has elements") {
  const std::string body = GENERATE(
      as<std::string>{}, "  y = x\n  if len(self.state) > 0:\n    y = x + self.state\n  self.state = y\n  return y\n",
      "  y = x\n  if self.state.size(0) == 0:\n    y = x * 2.0\n  else:\n    y = x + self.state\n  self.state = y\n  "
      "return y\n",
      "  s = self.state\n  if s.numel() == 0:\n    s = torch.zeros([4])\n  self.state = s + x\n  return s * x\n",
      "  if not bool(len(self.state)):\n    self.state = torch.zeros([4])\n  y = self.state + x\n  self.state = y\n"
      "  return y * 2.0\n");
  CAPTURE(body);
  CHECK(marked_reads(body) == 1);
}

TEST_CASE("reads of an attribute that may be empty are not marked, and then none of it is") {
  const std::string body = GENERATE(
      as<std::string>{}, "  y = torch.cat([self.state, x])\n  self.state = y\n  return y\n",
      "  y = x\n  if len(self.state) > 0:\n    y = x + self.state\n  else:\n    y = x + self.state.sum()\n"
      "  self.state = y\n  return y\n",
      "  y = x\n  if self.state.numel() == 3:\n    y = x + self.state\n  self.state = y\n  return y\n",
      "  y = x\n  has = len(self.state) > 0\n  self.state = torch.zeros([0])\n  if has:\n    y = x + self.state\n"
      "  self.state = y\n  return y\n",
      "  y = x\n  if len(self.state) == 0:\n    self.state = torch.zeros([4, 0])\n  y = x + self.state\n  self.state = "
      "y\n"
      "  return y\n",
      "  y = x\n  for i in range(int(x.sum())):\n    y = y + self.state\n    self.state = x\n  return y\n");
  CAPTURE(body);
  CHECK(marked_reads(body) == 0);
}

}  // namespace nnapi_convert
