// SPDX-License-Identifier: BSD-3-Clause
// Checks a model buffer of versions 2, 3, 4, 6 and 7 (schemas/nnapi_buffer.md) once, and makes models from it for
// arguments of certain shapes.
//
// Buffers may come from anywhere: the shim checks every count, offset and index with 64-bit arithmetic before it uses
// it, and takes memory only in proportion to the buffer's own size. An error sentence names the position of the word,
// the value found and the value needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/shim/buffer_layout.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"
#include "lib/shim/samples.h"

namespace nnapi_shim {

// Immutable, so that threads may share one.
class ModelBuffer {
 public:
  // Copies and checks `word_count` little-endian words; `words` need no alignment. `weight_bytes` is the
  // size of the model's weights. Returns null, and NNAPI_SHIM_BAD_MODEL in `error`, if a check fails.
  static std::unique_ptr<const ModelBuffer> parse(const void* words, size_t word_count, uint64_t weight_bytes,
                                                  nnapi_shim_error* error);

  // Makes the model for arguments of these shapes. If sizes are flexible, computes the expressions and writes their
  // values into a copy of the words. `view` may outlive this object, but not the weights. Returns an
  // nnapi_shim_status: NNAPI_SHIM_BAD_ARGUMENT for shapes that the model can't have.
  int bind(const nnapi_shim_shape* arguments, uint32_t argument_count, ModelView* view, nnapi_shim_error* error) const;

  // Returns the number of samples; 0 before version 4.
  size_t sample_count() const { return layout_.samples.size(); }
  // Reads the sample of this number. NNAPI_SHIM_BAD_MODEL if it is damaged.
  int read_sample(size_t number, Sample* sample, nnapi_shim_error* error) const;

  // Returns whether the weights have the CRC-32 that the header gives. Reads all of the weights.
  bool weights_match(const void* weights) const;

  uint32_t argument_count() const { return layout_.argument_count; }
  // Returns the sizes of an argument, 0 for a flexible one, in PyTorch's order.
  std::vector<int64_t> argument_sizes(uint32_t argument) const;
  uint32_t input_count() const { return layout_.models[0].input_count; }
  uint32_t output_count() const { return layout_.models[0].output_count; }
  // Return the types (ANEURALNETWORKS_*) of NNAPI's inputs and outputs.
  const std::vector<int32_t>& input_types() const { return input_types_; }
  const std::vector<int32_t>& output_types() const { return output_types_; }
  // Returns for each of NNAPI's inputs the number of its argument.
  const std::vector<int32_t>& input_arguments() const { return input_arguments_; }
  uint32_t feature_level() const;
  uint64_t weight_bytes() const { return weight_bytes_; }
  bool is_flexible() const { return layout_.patch_count != 0; }
  // Returns the words as in the buffer, before patching.
  const std::vector<int32_t>& words() const { return *words_; }

 private:
  ModelBuffer() = default;
  bool take(std::vector<int32_t> words, uint64_t weight_bytes, nnapi_shim_error* error);

  std::shared_ptr<const std::vector<int32_t>> words_;
  BufferLayout layout_;
  std::vector<int32_t> input_types_, output_types_, input_arguments_;
  uint64_t weight_bytes_ = 0;
};

}  // namespace nnapi_shim
