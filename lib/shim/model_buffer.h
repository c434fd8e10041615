// A model buffer of version 2 (schemas/nnapi_buffer.md), checked once, and the model it gives for arguments of certain
// shapes.
//
// Buffers may come from anywhere: every count, offset and index is checked with 64-bit arithmetic before it is used,
// and memory is taken only in proportion to the buffer's own size. What fails is told by one sentence with the word's
// position, what was found and what is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/shim/buffer_layout.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Immutable, so that threads may share one.
class ModelBuffer {
 public:
  // Copies `word_count` little-endian words of version 2; `words` need no alignment. `weight_bytes` is the size of the
  // weights that come with them. Null and NNAPI_SHIM_BAD_MODEL where something is wrong.
  static std::unique_ptr<const ModelBuffer> parse(const void* words, size_t word_count, uint64_t weight_bytes,
                                                  nnapi_shim_error* error);

  // The model for arguments of these shapes: expressions are computed and written into a copy of the words (which is
  // not made where nothing is flexible). `view` does not need this object any more, but the weights it
  // does. Returns an nnapi_shim_status: NNAPI_SHIM_BAD_ARGUMENT for shapes that the model can't have.
  int bind(const nnapi_shim_shape* arguments, uint32_t argument_count, ModelView* view, nnapi_shim_error* error) const;

  // Whether the CRC-32 of the weights is the header's. Reads all of them.
  bool weights_match(const void* weights) const;

  uint32_t argument_count() const { return layout_.argument_count; }
  uint32_t input_count() const { return layout_.models[0].input_count; }
  uint32_t output_count() const { return layout_.models[0].output_count; }
  uint32_t feature_level() const;
  uint64_t weight_bytes() const { return weight_bytes_; }
  bool is_flexible() const { return layout_.patch_count != 0; }
  // As they are in the buffer, before patching.
  const std::vector<int32_t>& words() const { return *words_; }

 private:
  ModelBuffer() = default;
  bool take(std::vector<int32_t> words, uint64_t weight_bytes, nnapi_shim_error* error);

  std::shared_ptr<const std::vector<int32_t>> words_;
  BufferLayout layout_;
  uint64_t weight_bytes_ = 0;
};

}  // namespace nnapi_shim
