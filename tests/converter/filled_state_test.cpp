// SPDX-License-Identifier: BSD-3-Clause
// Tests which reads of an attribute without elements are marked as reads of one that has them.
#include "lib/converter/graph/filled_state.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "lib/converter/frontend/normalise.h"
#include "lib/converter/graph/node_reads.h"
#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

// Counts the nodes of a forward for which `holds` returns true. `body` begins with two spaces in each line.
size_t count_nodes(const std::string& body, bool (*holds)(const torch::jit::Node& node)) {
  const LoadedModel loaded = test::from_source("def forward(self, x):\n" + body, {{"state", at::zeros({0})}});
  Diagnostics diagnostics;
  const NormalisedModel model = normalise(loaded, {RunBy::kNnapiAndCpu}, diagnostics);
  size_t count = 0;
  for_each_node(*model.graph, [&](const torch::jit::Node& node) { count += holds(node) ? 1 : 0; });
  return count;
}

size_t marked_reads(const std::string& body) {
  return count_nodes(body, is_filled_read);
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

TEST_CASE("what was read before a loop tells nothing of the attribute in it") {
  const std::string body =
      "  y = x\n  s = self.state\n  for i in range(int(x.sum())):\n    if len(s) > 0:\n      y = y + self.state\n"
      "    self.state = torch.zeros([0])\n  self.state = x\n  return y\n";
  CHECK(marked_reads(body) == 0);
}

TEST_CASE("sets that empty an attribute are marked where reads of it are") {
  const std::string reset = "  if bool(x.sum() > 0):\n    self.state = torch.zeros([0])\n";
  const std::string filled = "  if len(self.state) == 0:\n    self.state = x\n  y = self.state + x\n  self.state = y\n";
  CHECK(count_nodes(reset + filled + "  return y * 2.0\n", empties_state) == 1);
  // Such a size would be taken for the one at the beginning.
  const std::string other = "  n = len(self.state)\n  self.state = torch.zeros([4, 0])\n  return x * n\n";
  CHECK(count_nodes(other, empties_state) == 0);
  CHECK(count_nodes("  y = torch.cat([self.state, x])\n" + reset + "  return y\n", empties_state) == 0);
}

}  // namespace nnapi_convert
