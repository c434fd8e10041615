// SPDX-License-Identifier: BSD-3-Clause
// Writes the index by which the shim finds words and weights in an archive without PyTorch (schemas/nnapi_buffer.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

// The origin of a tensor in a model of several segments: output `number` of a segment, or, without a segment, argument
// `number` of forward.
struct ShimWire {
  std::optional<size_t> segment;
  size_t number = 0;
};

// The wiring of a model's segments, in the order in which they run; the CPU runs no part of the model.
struct ShimWiring {
  size_t arguments = 0;                       // the number of forward's arguments
  std::vector<std::vector<ShimWire>> inputs;  // by segment
  std::vector<ShimWire> outputs;              // forward's outputs
};

// The names of the records of a compilation's weights and words.
struct ShimRecords {
  std::string weights, words;
};
// Returns the records of a module whose state begins with compilations, each with weights of its own.
std::vector<ShimRecords> shim_records(size_t compilations);
// Returns such records if the compilations of each group have the same weights; each compilation is in one group.
std::vector<ShimRecords> shim_records_of_groups(const std::vector<std::vector<size_t>>& groups);

// Returns the index of a module with one compilation.
std::string shim_index();
// Returns the index of a module with a compilation for each segment.
std::string shim_index(const ShimWiring& wiring);
// Returns the index of a module whose compilations a program calls.
std::string shim_index_of_program(const std::vector<ShimRecords>& segments);

}  // namespace nnapi_convert
