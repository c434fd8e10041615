// SPDX-License-Identifier: BSD-3-Clause
// The index of an archive: which records hold words and weights, and how the tensors of several segments are wired.
// schemas/nnapi_buffer.md has the text's form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_shim {

// Where a tensor comes from: an output of an earlier segment, or an argument of forward.
struct Wire {
  static constexpr uint32_t kArgument = ~uint32_t{0};
  uint32_t segment = kArgument;
  uint32_t number = 0;
};

// Empty for one segment.
struct Wiring {
  std::vector<std::vector<Wire>> inputs;  // by segment: each of its arguments
  std::vector<Wire> outputs;              // of forward: outputs of segments, none twice
  uint32_t argument_count = 0;            // of forward
};

struct RecordNames {
  std::string words, weights;
};

struct ArchiveIndex {
  std::string program;               // the name of its record; empty: there is none
  std::vector<RecordNames> records;  // by segment
  Wiring wiring;                     // empty with a program, which wires its segments itself

  // Returns false for another text. Segments read only what forward gets or earlier segments make; how many outputs
  // these have, the text does not tell.
  bool parse(const std::string& text);
};

}  // namespace nnapi_shim
