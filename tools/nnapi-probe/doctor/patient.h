// SPDX-License-Identifier: BSD-3-Clause
// The file that is examined: its segments with their samples, and the values that the reference computes for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/shim/archive.h"
#include "lib/shim/model_buffer.h"
#include "tools/nnapi-probe/doctor/comparison.h"
#include "tools/nnapi-probe/doctor/cut_model.h"

namespace nnapi_doctor {

// A segment: one NNAPI model.
struct Part {
  std::unique_ptr<const nnapi_shim::ModelBuffer> buffer;
  nnapi_shim::Weights weights;
  std::vector<nnapi_shim::Sample> samples;
  std::vector<nnapi_shim::ModelView> views;  // by sample: the model bound to its sizes
  bool is_made = false;                      // the file has no samples: inputs are made up, and outputs not known
  std::unique_ptr<ModelCutter> cutter;       // for the first sample's view
  std::vector<uint64_t> places;              // by operand: its place in the store; kNoPlace: none, as for constants
  std::vector<TensorForm> forms;             // by operand
  size_t chosen = 0;                         // the sample whose values are in the store

  const nnapi_shim::SubgraphView& main() const { return views[0].models[0]; }
};

constexpr uint64_t kNoPlace = ~uint64_t{0};

// The values of the operands of all parts, for one sample of each part. All processes that the doctor forks share them.
class ValueStore {
 public:
  ValueStore() = default;
  ~ValueStore();
  ValueStore(const ValueStore&) = delete;
  ValueStore& operator=(const ValueStore&) = delete;

  // Gives each operand that is no constant a place. The values are in an unnamed file of the folder; without a folder,
  // in memory. Returns an empty text, or why it failed.
  std::string open(std::vector<Part>* parts, const std::string& folder);

  // Stores the inputs of a sample of the same sizes; the other values are then unknown.
  void choose_sample(Part* part, size_t sample) const;

  uint8_t* at(const Part& part, uint32_t operand) const { return data_ + part.places[operand]; }
  bool is_known(const Part& part, uint32_t operand) const {
    return part.places[operand] != kNoPlace && *flag(part, operand) != 0;
  }
  void set_known(const Part& part, uint32_t operand, bool known) const { *flag(part, operand) = known ? 1 : 0; }
  // Returns memory for the results of any one operation, each at a multiple of 64 bytes.
  uint8_t* scratch() const { return data_ + scratch_; }
  // Returns as much memory for a device's results that are compared again later.
  uint8_t* kept() const { return data_ + kept_; }
  // Frees the memory pages that were read; they are read from the file again when they are needed.
  void release() const;

 private:
  // Returns the byte before the value, which tells whether the value is known.
  uint8_t* flag(const Part& part, uint32_t operand) const { return data_ + part.places[operand] - 1; }

  uint8_t* data_ = nullptr;
  size_t bytes_ = 0, scratch_ = 0, kept_ = 0;
  bool is_file_ = false;
};

struct Patient {
  std::string path;
  nnapi_shim::Archive archive;
  std::vector<Part> parts;
  ValueStore store;
  std::string id;  // a checksum of all words, as hexadecimal digits

  // Reads the file, and makes the store. `variant` counts the models of a package from 1 on; 0 is the first. Returns an
  // nnapi_shim_status.
  int open(const std::string& file, uint32_t variant, const std::string& folder, nnapi_shim_error* error);
};

}  // namespace nnapi_doctor
