// What the fuzzer makes of its bytes: models, one execution, and the values for both. Every sequence of bytes is a
// program, and a program written as bytes is read as the same one (within the limits below).
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
  Bytes pattern;  // of a constant, or of a model input
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
  bool misused = false;  // calls at wrong times and of wrong indices as well
  // The last one is run. Others may refer to those before them.
  std::vector<Graph> graphs;
};

Program decode(const uint8_t* data, std::size_t size);
Bytes encode(const Program& program);

// The bytes of one element, 0 for an unknown type.
std::size_t element_size(uint32_t type);

// Builds the program's models, compiles and computes. Whatever the library answers is fine.
void run(const Program& program);

// Changes one thing, by numbers that depend on the seed alone.
void mutate(Program& program, unsigned seed);

}  // namespace fuzz
