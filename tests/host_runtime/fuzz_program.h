// SPDX-License-Identifier: BSD-3-Clause
// Reads the fuzzer's bytes as a program: models, one execution, and the values for both. Every sequence of bytes is a
// program; writing a program as bytes and reading it gives the same program (within the limits below).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

constexpr std::size_t kMaxOperands = 128, kMaxOperations = 24, kMaxGraphs = 4, kMaxArguments = 64, kMaxRank = 8;
constexpr std::size_t kMaxPattern = 2048;

// How an operand gets its value when the model is built.
enum class Source : uint8_t {
  kNone,      // no value: an input, output or temporary
  kOmitted,   // a null of length 0
  kConstant,  // the pattern, repeated to the operand's length
  kRaw,       // the pattern as it is
  kMemory,    // as kConstant, in a memory object
  kModel,     // the graph of this number
  kCount
};

using Bytes = std::vector<uint8_t>;

struct Operand {
  uint32_t type = 0;
  std::vector<uint32_t> dims;
  float scale = 0;
  int32_t zero_point = 0;
  uint32_t channel_dim = 0;
  std::vector<float> channel_scales;
  Source source = Source::kNone;
  uint32_t graph = 0;
  Bytes pattern;  // the value of a constant or a model input
};

struct Operation {
  uint32_t code = 0;
  std::vector<uint32_t> inputs, outputs;
};

struct Graph {
  std::vector<Operand> operands;
  std::vector<Operation> operations;
  std::vector<uint32_t> inputs, outputs;
};

enum class Way : uint8_t { kBuffers, kMemories, kBurst, kReusable, kBackground, kFenced, kOwnMemories, kCount };

struct Program {
  uint8_t level = 8;  // the offered feature level
  Way way = Way::kBuffers;
  bool relaxed = false, padded = false, unaligned = false, half = false, traced = false;
  bool misused = false;  // also makes calls at wrong times and with wrong indices
  // The last graph is run. A graph may refer to earlier graphs.
  std::vector<Graph> graphs;
};

Program decode(const uint8_t* data, std::size_t size);
Bytes encode(const Program& program);

// Returns the bytes of one element, 0 for an unknown type.
std::size_t element_size(uint32_t type);

// Builds the program's models, compiles and computes. Accepts every answer of the library.
void run(const Program& program);

// Changes one part of the program; the change depends only on the seed.
void mutate(Program& program, unsigned seed);

}  // namespace fuzz
