// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/shim_index.h"

#include <fmt/format.h>

#include <map>

#include "lib/format/program_format.h"

namespace nnapi_convert {
namespace {

std::string lines_of(const ShimRecords& records) {
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

std::vector<ShimRecords> shim_records(size_t compilations) {
  std::vector<std::vector<size_t>> groups(compilations);
  for (size_t i = 0; i < compilations; ++i) groups[i] = {i};
  return shim_records_of_groups(groups);
}

// The state of a compilation is its weights, then its words. The archive numbers tensors in the order in which it meets
// them.
std::vector<ShimRecords> shim_records_of_groups(const std::vector<std::vector<size_t>>& groups) {
  std::map<size_t, size_t> group_of;
  for (size_t group = 0; group < groups.size(); ++group) {
    for (const size_t compilation : groups[group]) group_of[compilation] = group;
  }
  std::vector<ShimRecords> records;
  std::vector<std::string> weights(groups.size());
  size_t number = 0;
  const auto next_record = [&] { return fmt::format("data/{}", number++); };
  for (const auto& [compilation, group] : group_of) {
    if (weights[group].empty()) weights[group] = next_record();
    records.push_back({weights[group], next_record()});
  }
  return records;
}

std::string shim_index() {
  return lines_of(shim_records(1)[0]);
}

std::string shim_index(const ShimWiring& wiring) {
  std::string text = fmt::format("segments {}\n{}\n", wiring.inputs.size(), wiring.arguments);
  const std::vector<ShimRecords> records = shim_records(wiring.inputs.size());
  for (size_t i = 0; i < wiring.inputs.size(); ++i) text += lines_of(records[i]) + line_of(wiring.inputs[i]);
  return text + line_of(wiring.outputs);
}

std::string shim_index_of_program(const std::vector<ShimRecords>& segments) {
  std::string text = fmt::format("program 1\n{}\n{}\n", program_format::kRecord, segments.size());
  for (const ShimRecords& records : segments) text += lines_of(records);
  return text;
}

}  // namespace nnapi_convert
