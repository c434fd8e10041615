// SPDX-License-Identifier: BSD-3-Clause
// Reads the samples of a buffer, from version 4 on (lib/format/buffer_samples.h), and compares a device's results with
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/format/buffer_samples.h"
#include "lib/shim/buffer_layout.h"
#include "lib/shim/execution.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// The values to which one output has to be near.
struct SampleOutput {
  float most_difference = 0, root_mean_square = 0;
  float lowest = 0, highest = 0;
  uint32_t step = 1;
  const uint8_t* elements = nullptr;  // the elements number 0, step, 2 * step and so on; a place in the words
};

struct Sample {
  std::vector<uint32_t> ranks;  // the arguments' ranks
  std::vector<int64_t> sizes;   // the sizes of all arguments, one after the other
  std::vector<nnapi_shim_tensor> input_tensors, output_tensors;
  std::vector<std::vector<uint8_t>> inputs;
  std::vector<SampleOutput> outputs;

  // Returns the arguments' shapes, which point into this sample.
  std::vector<nnapi_shim_shape> shapes() const;
};

// Reads one sample, first its shapes and then, with the tensors that the model has for them, the rest. Failures are
// NNAPI_SHIM_BAD_MODEL.
class SampleReader {
 public:
  // find_layout has checked the words. The arguments have to outlive the reader, and the words the sample.
  SampleReader(const int32_t* words, const BufferLayout& layout, size_t number, nnapi_shim_error* error);

  int read_shapes(Sample* sample);
  int read_tensors(Sample* sample);

 private:
  bool take(uint64_t words, const char* what, size_t* first);
  bool read_input(const nnapi_shim_tensor& tensor, std::vector<uint8_t>* bytes);
  bool read_uniform(const nnapi_shim_tensor& tensor, std::vector<uint8_t>* bytes);
  bool read_output(const nnapi_shim_tensor& tensor, SampleOutput* output);

  const int32_t* words_;
  const BufferLayout& layout_;
  size_t number_;
  size_t at_, end_;
  nnapi_shim_error* error_;
};

// The buffers of one run of a sample. The sample has to outlive them.
class SampleBuffers {
 public:
  explicit SampleBuffers(const Sample& sample);

  RunBuffers run_buffers() const;
  // Fills the outputs with 0xFF, as the constructor does: an output that a device doesn't write is then found wrong.
  void clear();
  // Compares the run's results with the sample's outputs, as compare_output() does.
  int compare(nnapi_shim_error* error) const;

 private:
  const Sample& sample_;
  std::vector<std::vector<uint8_t>> results_;
  std::vector<nnapi_shim_buffer> inputs_, outputs_;
};

// Compares an output of the device with the sample's. Returns NNAPI_SHIM_OK, or NNAPI_SHIM_FAILED with a sentence: what
// differs, by how much, and how much may.
int compare_output(const SampleOutput& expected, const nnapi_shim_tensor& tensor, uint32_t number, const void* found,
                   nnapi_shim_error* error);

}  // namespace nnapi_shim
