// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/archive_index.h"

#include <algorithm>
#include <cstdlib>

namespace nnapi_shim {
namespace {

constexpr uint32_t kMostSegments = 64, kMostOfProgram = 256, kMostNumber = 4096;

// Takes the first part up to `end` off `text`; returns false if nothing is left.
bool take(std::string* text, char end, std::string* part) {
  const size_t length = text->find(end);
  *part = text->substr(0, length);
  text->erase(0, length == std::string::npos ? length : length + 1);
  return !part->empty() && part->find('\0') == std::string::npos;
}

bool to_number(const std::string& text, uint32_t below, uint32_t* number) {
  if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos) return false;
  *number = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  return *number < below;
}

// Reads "a1", argument 1, or "s0.2", output 2 of segment 0.
bool to_wire(const std::string& text, uint32_t segments, Wire* wire) {
  if (text[0] == 'a') return to_number(text.substr(1), kMostNumber, &wire->number);
  const size_t dot = text.find('.');
  return text[0] == 's' && dot != std::string::npos && to_number(text.substr(1, dot - 1), segments, &wire->segment) &&
         to_number(text.substr(dot + 1), kMostNumber, &wire->number);
}

// Reads the wires of a line, which spaces separate.
bool to_wires(std::string line, uint32_t segments, std::vector<Wire>* wires) {
  std::string part;
  while (!line.empty()) {
    Wire wire;
    if (!take(&line, ' ', &part) || !to_wire(part, segments, &wire)) return false;
    wires->push_back(wire);
  }
  return true;
}

bool is_twice(const std::vector<Wire>& wires) {
  for (size_t i = 0; i < wires.size(); ++i) {
    const auto is_same = [&](const Wire& other) {
      return other.segment == wires[i].segment && other.number == wires[i].number;
    };
    if (std::count_if(wires.begin(), wires.end(), is_same) > 1) return true;
  }
  return false;
}

}  // namespace

bool ArchiveIndex::parse(const std::string& given) {
  std::string text = given, line;
  constexpr const char *kSegments = "segments ", *kProgram = "program 1\n";
  uint32_t count = 0;
  if (text.rfind(kProgram, 0) == 0) {
    text.erase(0, std::string(kProgram).size());
    if (!take(&text, '\n', &program) || !take(&text, '\n', &line)) return false;
    if (!to_number(line, kMostOfProgram + 1, &count)) return false;
    records.resize(count);
    for (RecordNames& names : records) {
      if (!take(&text, '\n', &names.words) || !take(&text, '\n', &names.weights)) return false;
    }
    return text.empty();
  }
  if (text.rfind(kSegments, 0) != 0) {
    records.resize(1);
    return take(&text, '\n', &records[0].words) && take(&text, '\n', &records[0].weights) && text.empty();
  }
  text.erase(0, std::string(kSegments).size());
  if (!take(&text, '\n', &line) || !to_number(line, kMostSegments + 1, &count) || count < 2) return false;
  if (!take(&text, '\n', &line) || !to_number(line, kMostNumber, &wiring.argument_count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    RecordNames names;
    std::vector<Wire> inputs;
    if (!take(&text, '\n', &names.words) || !take(&text, '\n', &names.weights)) return false;
    if (!take(&text, '\n', &line) || !to_wires(line, i, &inputs)) return false;
    for (const Wire& wire : inputs) {
      if (wire.segment == Wire::kArgument && wire.number >= wiring.argument_count) return false;
    }
    records.push_back(std::move(names));
    wiring.inputs.push_back(std::move(inputs));
  }
  if (!take(&text, '\n', &line) || !to_wires(line, count, &wiring.outputs) || !text.empty()) return false;
  const auto is_argument = [](const Wire& wire) { return wire.segment == Wire::kArgument; };
  return !is_twice(wiring.outputs) && std::none_of(wiring.outputs.begin(), wiring.outputs.end(), is_argument);
}

}  // namespace nnapi_shim
