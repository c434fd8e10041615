// SPDX-License-Identifier: BSD-3-Clause
// Unrolls loops whose number of rounds is known.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <memory>

namespace nnapi_convert {

// The greatest number of nodes that a graph may have when all its loops of known rounds are unrolled: this many
// torch.sin() convert in 11 s, twice as many in more than a minute.
constexpr int64_t kMostUnrolledNodes = 100000;

// True for a loop that runs as often as input 0 says: no condition ends it.
bool is_counted(const torch::jit::Node& loop);
// True if `depth` loops, at least 1, are in each other somewhere in the block.
bool has_loops_of_depth(const torch::jit::Block& block, int depth);
// Makes a loop a counted one of `rounds` rounds.
void count_rounds(torch::jit::Node& loop, int64_t rounds);

// True for a loop of known rounds in a graph that would have more than kMostUnrolledNodes nodes when unrolled, or whose
// loops are nested so deep that two rounds of each would make more.
bool is_too_long(const torch::jit::Node& node);

// Throws ConvertError if LibTorch's freezing would make more than kMostUnrolledNodes nodes: it unrolls loops of less
// than 64 rounds completely, and eight rounds of longer loops.
void check_nested_loops(const torch::jit::Graph& graph);

// Unrolls loops of known rounds. True if there were any; false, without a change, if they are too long
// (is_too_long). Calling it until it returns false ends: LibTorch unrolls a loop completely, or replaces it by a
// loop of an eighth of the rounds and one of less than eight, which have as many nodes when unrolled.
bool unroll_loops(std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace nnapi_convert
