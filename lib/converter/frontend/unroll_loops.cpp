// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/unroll_loops.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/graph/node_reads.h"

namespace nnapi_convert {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool is_true(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isBool() && constant->toBool();
}

std::optional<int64_t> known_rounds(const Node& node) {
  if (node.kind() != c10::prim::Loop || !is_counted(node)) return std::nullopt;
  const auto rounds = torch::jit::toIValue(node.input(0));
  return rounds && rounds->isInt() ? std::optional(rounds->toInt()) : std::nullopt;
}

int64_t limited(int64_t size) {
  return std::min(size, kMostUnrolledNodes + 1);
}

int64_t size_of(const Node& node, int64_t (*written_out)(int64_t rounds));

int64_t size_of(const Block& block, int64_t (*written_out)(int64_t rounds)) {
  int64_t size = 0;
  for (const Node* node : block.nodes()) size = limited(size + size_of(*node, written_out));
  return size;
}

// Counts a node and the nodes in its blocks, with loops of known rounds written out as often as `written_out` says; a
// number above kMostUnrolledNodes stands for all larger ones.
int64_t size_of(const Node& node, int64_t (*written_out)(int64_t rounds)) {
  int64_t size = 0;
  for (const Block* block : node.blocks()) size = limited(size + size_of(*block, written_out));
  if (const auto rounds = known_rounds(node)) size = limited(limited(written_out(*rounds)) * size);
  return limited(size + 1);
}

// Counts the nodes of the block as size_of() does, without nodes that are in no loop of known rounds.
int64_t size_of_loops(const Block& block, int64_t (*written_out)(int64_t rounds)) {
  int64_t size = 0;
  for (const Node* node : block.nodes()) {
    if (known_rounds(*node)) {
      size = limited(size + size_of(*node, written_out));
    } else {
      for (const Block* inner : node->blocks()) size = limited(size + size_of_loops(*inner, written_out));
    }
  }
  return size;
}

int64_t all_rounds(int64_t rounds) {
  return std::max<int64_t>(0, rounds);
}

// Returns how many copies of the body one call of LibTorch's unrolling makes.
int64_t rounds_at_once(int64_t rounds) {
  constexpr int64_t kWhole = 64, kPart = 8;
  return rounds < kWhole ? all_rounds(rounds) : kPart + 1;
}

// True if the unrolled graph would be too large. Also limits how deep loops are nested: rounds of inner loops may be
// known only when the outer ones are written out, which the size doesn't tell.
bool is_too_large(const Graph& graph) {
  constexpr int kMostLoops = 16;  // nested loops: with two rounds each, one more makes more than kMostUnrolledNodes
  static_assert(int64_t{1} << kMostLoops <= kMostUnrolledNodes && int64_t{2} << kMostLoops > kMostUnrolledNodes);
  return has_loops_of_depth(*graph.block(), kMostLoops + 1) || size_of(*graph.block(), all_rounds) > kMostUnrolledNodes;
}

// Sets negative numbers of rounds to 0: Python runs no round of range(-1), and LibTorch would write out 2^64 - 1.
void drop_negative_rounds(Graph& graph) {
  std::vector<Node*> loops;
  for_each_node(graph, [&](Node& node) {
    if (known_rounds(node).value_or(0) < 0) loops.push_back(&node);
  });
  for (Node* loop : loops) {
    torch::jit::WithInsertPoint before(loop);
    loop->replaceInput(0, graph.insertConstant(int64_t{0}));
  }
}

}  // namespace

bool is_counted(const Node& loop) {
  return is_true(loop.input(1)) && is_true(loop.blocks()[0]->outputs()[0]);
}

bool has_loops_of_depth(const Block& block, int depth) {
  for (const Node* node : block.nodes()) {
    const int inner = node->kind() == c10::prim::Loop ? depth - 1 : depth;
    if (inner == 0) return true;
    for (const Block* each : node->blocks()) {
      if (has_loops_of_depth(*each, inner)) return true;
    }
  }
  return false;
}

void count_rounds(Node& loop, int64_t rounds) {
  Graph& graph = *loop.owningGraph();
  torch::jit::WithInsertPoint before(&loop);
  Value* goes_on = graph.insertConstant(true);
  loop.replaceInput(0, graph.insertConstant(rounds));
  loop.replaceInput(1, goes_on);
  loop.blocks()[0]->return_node()->replaceInput(0, goes_on);
}

bool is_too_long(const Node& node) {
  return known_rounds(node) && is_too_large(*node.owningGraph());
}

void check_nested_loops(const Graph& graph) {
  if (size_of_loops(*graph.block(), rounds_at_once) <= kMostUnrolledNodes) return;
  throw ConvertError(
      ExitCode::kNotConvertible,
      fmt::format("forward has loops in loops of more than {} operations when they are written out; make "
                  "them shorter, or their numbers of rounds arguments of forward",
                  kMostUnrolledNodes));
}

bool unroll_loops(std::shared_ptr<Graph>& graph) {
  drop_negative_rounds(*graph);
  if (is_too_large(*graph)) return false;
  return torch::jit::UnrollConstantLoops(graph);
}

}  // namespace nnapi_convert
