// Loops whose number of rounds is known, written out.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <memory>

namespace nnapi_convert {

// The most nodes that a graph may have when all its loops of known rounds are written out: so many torch.sin() convert
// in 11 s, twice as many in more than a minute.
constexpr int64_t kMostUnrolledNodes = 100000;

// True for a loop of known rounds in a graph of more nodes than that, written out.
bool is_too_long(const torch::jit::Node& node);

// Throws ConvertError where LibTorch, which writes out loops when it freezes a module, would make more nodes than that:
// it takes loops of less than 64 rounds whole, and eight rounds of longer ones.
void check_nested_loops(const torch::jit::Graph& graph);

// Writes out loops of known rounds. True if there were any; false, and nothing changed, where the graph would have more
// than kMostUnrolledNodes. Called until it is false it ends: LibTorch writes a loop out, or makes one of an eighth of
// the rounds of it and one of less than eight, with the same nodes when written out.
bool unroll_loops(std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace nnapi_convert
