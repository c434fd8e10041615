// SPDX-License-Identifier: BSD-3-Clause
// The index of an archive: which records hold words and weights, and how the tensors of several segments are wired.
// schemas/nnapi_buffer.md has the text's form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_shim {

// The origin of a tensor: output `number` of an earlier segment, or argument `number` of forward.
struct Wire {
  static constexpr uint32_t kArgument = ~uint32_t{0};
  uint32_t segment = kArgument;
  uint32_t number = 0;
};

// The wiring of several segments; empty for one segment.
struct Wiring {
  std::vector<std::vector<Wire>> inputs;  // by segment: each of its arguments
  std::vector<Wire> outputs;              // forward's outputs: outputs of segments, none twice
  uint32_t argument_count = 0;            // the number of forward's arguments
};

struct RecordNames {
  std::string words, weights;
};

struct ArchiveIndex {
  std::string program;               // the name of the program's record; empty: there is none
  std::vector<RecordNames> records;  // by segment
  Wiring wiring;                     // empty with a program, which wires its segments itself

  // Returns false for a text that is no index. Checks that segments read only arguments of forward and outputs of
  // earlier segments, but not how many outputs these have: the text does not tell.
  bool parse(const std::string& text);
};

}  // namespace nnapi_shim
