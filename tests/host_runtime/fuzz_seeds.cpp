// SPDX-License-Identifier: BSD-3-Clause
// Writes Android's NNAPI test cases as programs of the fuzzer, one file for each spec and operation list, into a
// folder. NNAPI_VECTORS names their archive or folder; without it nothing is written.
//
//     fuzz_seeds FOLDER
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/host_runtime/fuzz_program.h"
#include "tests/host_runtime/vector_numbers.h"
#include "tests/host_runtime/vectors.h"

namespace {

constexpr std::size_t kMaxSeed = 4096;  // bytes

fuzz::Source source_of(const std::string& lifetime) {
  if (lifetime == "NO_VALUE") return fuzz::Source::kOmitted;
  if (lifetime == "CONSTANT_COPY") return fuzz::Source::kConstant;
  if (lifetime == "CONSTANT_REFERENCE") return fuzz::Source::kMemory;
  if (lifetime == "SUBGRAPH") return fuzz::Source::kModel;
  return fuzz::Source::kNone;
}

fuzz::Operand operand_of(const vectors::Operand& from) {
  fuzz::Operand operand;
  operand.type = static_cast<uint32_t>(from.type);
  operand.dims = from.dims;
  operand.scale = from.scale;
  operand.zero_point = from.zero_point;
  operand.channel_dim = from.channel_dim;
  operand.channel_scales = from.channel_scales;
  operand.source = source_of(from.lifetime);
  if (operand.source == fuzz::Source::kModel) {
    operand.graph = static_cast<uint32_t>(from.values.at(0));
    return operand;
  }
  if (from.lifetime == "MODEL_INPUT" && from.values.empty()) operand.source = fuzz::Source::kOmitted;
  operand.pattern = vectors::to_bytes(from.type, from.values);
  if (operand.pattern.size() > fuzz::kMaxPattern) operand.pattern.resize(fuzz::kMaxPattern);
  return operand;
}

fuzz::Graph graph_of(const vectors::Graph& from) {
  fuzz::Graph graph;
  for (const vectors::Operand& operand : from.operands) graph.operands.push_back(operand_of(operand));
  for (const vectors::Operation& operation : from.operations) {
    graph.operations.push_back({static_cast<uint32_t>(operation.code), operation.inputs, operation.outputs});
  }
  graph.inputs = from.inputs;
  graph.outputs = from.outputs;
  return graph;
}

bool too_large(const fuzz::Graph& graph) {
  return graph.operands.size() > fuzz::kMaxOperands || graph.operations.size() > fuzz::kMaxOperations;
}

// Nothing where the case is larger than the fuzzer's programs.
fuzz::Bytes seed_of(const vectors::Case& test, std::size_t number) {
  fuzz::Program program;
  program.relaxed = test.relaxed;
  program.way = static_cast<fuzz::Way>(number % static_cast<std::size_t>(fuzz::Way::kCount));
  for (const vectors::Graph& graph : test.referenced) program.graphs.push_back(graph_of(graph));
  program.graphs.push_back(graph_of(test.main));
  if (program.graphs.size() > fuzz::kMaxGraphs) return {};
  for (const fuzz::Graph& graph : program.graphs) {
    if (too_large(graph)) return {};
  }
  fuzz::Bytes bytes = fuzz::encode(program);
  return bytes.size() <= kMaxSeed ? bytes : fuzz::Bytes();
}

std::string kind_of(const vectors::Graph& graph) {
  std::string kind;
  for (const vectors::Operation& operation : graph.operations) {
    kind += std::to_string(static_cast<int>(operation.code));
    for (const auto* list : {&operation.inputs, &operation.outputs}) {
      for (const uint32_t index : *list) {
        const vectors::Operand& operand = graph.operands[index];
        kind += ":" + std::to_string(static_cast<int>(operand.type)) + (operand.lifetime == "NO_VALUE" ? "-" : "");
      }
    }
    kind += "/";
  }
  return kind;
}

int write_seeds(const std::filesystem::path& folder, const std::string& vectors_path) {
  std::filesystem::create_directories(folder);
  std::set<std::string> kinds;
  std::size_t number = 0;
  const vectors::Collection collection(vectors_path);
  for (const auto& file : collection.files()) {
    for (const vectors::Case& test : vectors::read_cases(file)) {
      if (!kinds.insert(kind_of(test.main)).second) continue;
      const fuzz::Bytes bytes = seed_of(test, number);
      if (bytes.empty()) continue;
      std::ofstream stream(folder / std::to_string(number++), std::ios::binary);
      stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      if (!stream) throw std::runtime_error((folder / std::to_string(number - 1)).string() + ": cannot be written");
    }
  }
  std::printf("%zu seeds\n", number);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  const char* vectors_path = std::getenv("NNAPI_VECTORS");
  if (vectors_path && *vectors_path) return write_seeds(argv[1], vectors_path);
  std::filesystem::create_directories(argv[1]);
  std::printf("no seeds: NNAPI_VECTORS is not set\n");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fuzz_seeds: %s\n", error.what());
  return 1;
}
