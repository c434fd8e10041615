// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/shim_index.h"

#include <fmt/format.h>

#include "lib/format/program_format.h"

namespace nnapi_convert {
namespace {

std::string lines_of_records(size_t part) {
  const ShimRecords records = shim_records(part);
  return fmt::format("{}\n{}\n", records.words, records.weights);
}

std::string line_of(const std::vector<ShimWire>& wires) {
  std::string line;
  for (const ShimWire& wire : wires) {
    line += line.empty() ? "" : " ";
    line += wire.segment ? fmt::format("s{}.{}", *wire.segment, wire.number) : fmt::format("a{}", wire.number);
  }
  return line + "\n";
}

}  // namespace

// The state of a compilation is its weights and its words.
ShimRecords shim_records(size_t part) {
  return {fmt::format("data/{}", 2 * part), fmt::format("data/{}", 2 * part + 1)};
}

std::string shim_index() {
  return lines_of_records(0);
}

std::string shim_index(const ShimWiring& wiring) {
  std::string text = fmt::format("segments {}\n{}\n", wiring.inputs.size(), wiring.arguments);
  for (size_t i = 0; i < wiring.inputs.size(); ++i) text += lines_of_records(i) + line_of(wiring.inputs[i]);
  return text + line_of(wiring.outputs);
}

std::string shim_index_of_program(size_t segments) {
  std::string text = fmt::format("program 1\n{}\n{}\n", program_format::kRecord, segments);
  for (size_t i = 0; i < segments; ++i) text += lines_of_records(i);
  return text;
}

}  // namespace nnapi_convert
