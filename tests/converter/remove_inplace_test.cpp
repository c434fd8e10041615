// SPDX-License-Identifier: BSD-3-Clause
// In-place operations become functional where nothing else sees the change. Graphs number their values in order of
// appearance when they are parsed.
#include "lib/converter/frontend/remove_inplace.h"

#include <torch/csrc/jit/ir/irparser.h>

#include <catch2/catch.hpp>

namespace nnapi_convert {
namespace {

using Catch::Contains;

struct Removed {
  std::string graph;
  std::vector<std::string> warnings;
};

Removed removed(const std::string& text) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get());
  Diagnostics diagnostics;
  remove_inplace(graph, diagnostics);
  graph->lint();
  return {graph->toString(false), messages_of(diagnostics.warnings)};
}

}  // namespace

TEST_CASE("later readers of the old name read the result") {
  const Removed found = removed(R"(
graph(%x : Tensor):
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = aten::relu_(%y)
  %w : Tensor = aten::mul(%y, %x)
  return (%w))");
  CHECK_THAT(found.graph, Contains("%4 : Tensor = aten::relu(%1)") && Contains("aten::mul(%4, %x)"));
  CHECK(found.warnings.empty());
}

TEST_CASE("inputs are taken to be apart") {
  const std::string text = R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %z : Tensor = aten::add_(%x, %one, %one)
  %w : Tensor = aten::mul(%z, %y)
  return (%w))";
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get());
  Diagnostics diagnostics;
  const auto apart = remove_inplace(graph, diagnostics);
  graph->lint();
  REQUIRE(apart.size() == 1);
  CHECK(apart[0] == graph->inputs()[0]);
  CHECK_THAT(graph->toString(false), Contains("aten::add(%x") && !Contains("add_") && !Contains("clone"));
  CHECK(diagnostics.warnings.size() == 1);
}

TEST_CASE("what may have another dtype is cast to the changed tensor's") {
  const std::string head = R"(
graph(%x : Tensor, %a : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
)";
  const auto casts = [&](const std::string& change) {
    return removed(head + "  %z : Tensor = " + change + "\n  return (%z)").graph.find("type_as") != std::string::npos;
  };
  CHECK(casts("aten::add_(%y, %a, %one)"));
  CHECK(casts("aten::gt_(%y, %one)"));
  CHECK_FALSE(casts("aten::add_(%y, %one, %one)"));
  CHECK_FALSE(casts("aten::relu_(%y)"));
}

TEST_CASE("arguments are kept") {
  const Removed found = removed(R"(
graph(%x : Tensor, %a : Tensor):
  %low : int = prim::Constant[value=0]()
  %high : int = prim::Constant[value=6]()
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = aten::hardtanh_(%y, %low, %high)
  %w : Tensor = aten::add_(%z, %a, %one)
  return (%w))");
  CHECK_THAT(found.graph, Contains("%8 : Tensor = aten::hardtanh(%5, %2, %3)") && Contains("aten::add(%8, %a, %4)"));
  CHECK_THAT(found.graph, !Contains("hardtanh_") && !Contains("add_"));
}

TEST_CASE("a change of the caller's input warns") {
  const Removed found = removed(R"(
graph(%x : Tensor):
  %y : Tensor = aten::relu_(%x)
  return (%y))");
  CHECK_THAT(found.graph, Contains("aten::relu(%x)"));
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], Contains("aten::relu_ changes the caller's input in place"));
}

TEST_CASE("a change that another view sees stays") {
  const Removed of_view = removed(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %v : Tensor = aten::flatten(%y, %one, %one)
  %z : Tensor = aten::relu_(%v)
  %w : Tensor = aten::mul(%y, %x)
  return (%w))");
  CHECK_THAT(of_view.graph, Contains("aten::relu_(%3)"));
  const Removed of_base = removed(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %v : Tensor = aten::flatten(%y, %one, %one)
  %z : Tensor = aten::relu_(%y)
  return (%v))");
  CHECK_THAT(of_base.graph, Contains("aten::relu_(%2)"));
}

TEST_CASE("a change that another view sees inside a branch is written back") {
  const Removed found = removed(R"(
graph(%x : Tensor, %b : bool):
  %zero : int = prim::Constant[value=0]()
  %y : Tensor = aten::sigmoid(%x)
  %view : Tensor = aten::select(%y, %zero, %zero)
  %z : Tensor = aten::relu_(%view)
  %w : Tensor = prim::If(%b)
    block0():
      %u : Tensor = aten::neg(%y)
      -> (%u)
    block1():
      -> (%x)
  return (%w))");
  CHECK_THAT(found.graph, !Contains("aten::relu_"));
  CHECK_THAT(found.graph, Contains("%9 : Tensor = aten::select_scatter(%3, %8, %2, %2)"));
  CHECK_THAT(found.graph, Contains("aten::neg(%9)"));
}

TEST_CASE("a view that is read by nothing later doesn't matter") {
  const Removed found = removed(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %v : Tensor = aten::flatten(%y, %one, %one)
  %s : Tensor = aten::tanh(%v)
  %z : Tensor = aten::relu_(%y)
  %w : Tensor = aten::mul(%s, %z)
  return (%w))");
  CHECK_THAT(found.graph, Contains("%7 : Tensor = aten::relu(%2)") && Contains("aten::mul(%4, %7)"));
}

TEST_CASE("views made after the change see it") {
  const Removed found = removed(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = aten::relu_(%y)
  %v : Tensor = aten::flatten(%y, %one, %one)
  return (%v))");
  CHECK_THAT(found.graph, Contains("aten::relu(%2)") && Contains("aten::flatten(") && !Contains("aten::flatten(%2"));
}

TEST_CASE("in a branch: the branch hands the result on") {
  const Removed found = removed(R"(
graph(%x : Tensor, %c : bool):
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = prim::If(%c)
    block0():
      %a : Tensor = aten::relu_(%y)
      -> (%a)
    block1():
      -> (%y)
  return (%z))");
  CHECK_THAT(found.graph, Contains("aten::relu(%2)") && !Contains("relu_"));
}

TEST_CASE("in a branch: what is read after it under the old name stays") {
  const Removed found = removed(R"(
graph(%x : Tensor, %c : bool):
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = prim::If(%c)
    block0():
      %a : Tensor = aten::relu_(%y)
      -> (%a)
    block1():
      -> (%y)
  %w : Tensor = aten::mul(%z, %y)
  return (%w))");
  CHECK_THAT(found.graph, Contains("aten::relu_(%2)"));
}

TEST_CASE("in a loop: the next round reads the result") {
  const Removed found = removed(R"(
graph(%x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %go : bool = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = prim::Loop(%n, %go, %y)
    block0(%i : int, %s : Tensor):
      %a : Tensor = aten::add_(%s, %x, %one)
      -> (%go, %a)
  return (%z))");
  CHECK_THAT(found.graph, Contains("aten::add(") && !Contains("add_"));
}

TEST_CASE("in a loop: the old name is handed on") {
  const Removed found = removed(R"(
graph(%x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %go : bool = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = prim::Loop(%n, %go, %y)
    block0(%i : int, %s : Tensor):
      %a : Tensor = aten::add(%s, %x, %one)
      %b : Tensor = aten::relu_(%a)
      %c : Tensor = aten::tanh_(%b)
      -> (%go, %a)
  return (%z))");
  CHECK_THAT(found.graph, !Contains("relu_") && !Contains("tanh_"));
}

TEST_CASE("in a loop: a view from before the change that is read after it stays") {
  const Removed found = removed(R"(
graph(%x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %go : bool = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = prim::Loop(%n, %go, %y)
    block0(%i : int, %s : Tensor):
      %v : Tensor = aten::flatten(%s, %one, %one)
      %a : Tensor = aten::relu_(%s)
      %b : Tensor = aten::add(%a, %v, %one)
      %c : Tensor = aten::view_as(%a, %b)
      -> (%go, %c)
  return (%z))");
  CHECK_THAT(found.graph, Contains("aten::relu_("));
}

TEST_CASE("in a loop: a value from outside that the next round reads stays") {
  const Removed found = removed(R"(
graph(%x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %go : bool = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = prim::Loop(%n, %go, %x)
    block0(%i : int, %s : Tensor):
      %a : Tensor = aten::relu_(%y)
      %b : Tensor = aten::add(%s, %a, %one)
      -> (%go, %b)
  return (%z))");
  CHECK_THAT(found.graph, Contains("aten::relu_("));
  const Removed initial = removed(R"(
graph(%x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %go : bool = prim::Constant[value=1]()
  %y : Tensor = aten::sigmoid(%x)
  %z : Tensor = prim::Loop(%n, %go, %y)
    block0(%i : int, %s : Tensor):
      %a : Tensor = aten::add_(%s, %x, %one)
      -> (%go, %a)
  %w : Tensor = aten::mul(%z, %y)
  return (%w))");
  CHECK_THAT(initial.graph, Contains("aten::add_("));
}

TEST_CASE("a graph without in-place operations stays as it is") {
  const std::string text = R"(
graph(%x : Tensor):
  %y : Tensor = aten::relu(%x)
  return (%y))";
  CHECK_THAT(removed(text).graph, Contains("aten::relu(%x)"));
}

TEST_CASE("in a branch: a list from before the change that is read after it keeps the change") {
  const Removed found = removed(R"(
graph(%x : Tensor, %c : bool):
  %zero : int = prim::Constant[value=0]()
  %y : Tensor = aten::sigmoid(%x)
  %l : Tensor[] = prim::ListConstruct(%y, %x)
  %z : Tensor = prim::If(%c)
    block0():
      %a : Tensor = aten::relu_(%y)
      -> (%a)
    block1():
      -> (%x)
  %w : Tensor = aten::cat(%l, %zero)
  return (%w, %z))");
  CHECK_THAT(found.graph, Contains("aten::relu_("));
}

TEST_CASE("a list from before the change that is read after it keeps the change") {
  const Removed found = removed(R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %y : Tensor = aten::sigmoid(%x)
  %l : Tensor[] = prim::ListConstruct(%y, %x)
  %z : Tensor = aten::relu_(%y)
  %w : Tensor = aten::cat(%l, %zero)
  return (%w, %z))");
  CHECK_THAT(found.graph, Contains("aten::relu_("));
}

}  // namespace nnapi_convert
