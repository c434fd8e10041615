// The archive (.pt, .ptl) that nnapi-convert writes, as far as the shim needs it: the model's words and its weights.
//
// It is a zip file, plain or ZIP64, in which both lie stored. Records have no checksum of ours here: the words carry
// their own, and reading the weights to check them would bring all of them into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Closes and unmaps at its end. Movable.
class Archive {
 public:
  Archive() = default;
  Archive(Archive&& other) noexcept;
  Archive& operator=(Archive&& other) noexcept;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive();

  // Finds the record "<root>/extra/nnapi_shim.index" and what it names, and maps the weights read-only.
  // Returns NNAPI_SHIM_OK; NNAPI_SHIM_BAD_ARGUMENT where the file can't be opened; NNAPI_SHIM_BAD_MODEL where it is no
  // archive, is damaged, has these records deflated or was not written with --runtime shim;
  // NNAPI_SHIM_FAILED where the weights can't be mapped.
  int open(const char* path, nnapi_shim_error* error);

  // Little-endian words, as ModelBuffer::parse takes them. The buffer copies them: drop_words() frees this copy.
  const std::vector<int32_t>& words() const { return words_; }
  void drop_words();

  // Stay until this object's end. The descriptor is -1, so that NNAPI gets the memory and not the file, where the
  // record does not start at a multiple of the system's page size (nnapi-convert aligns it; another program may have
  // packed the archive anew) or where there are no weights. Whoever shortens the file meanwhile makes reading it a
  // SIGBUS, as with any mapping: replace files, don't rewrite them.
  const Weights& weights() const { return weights_; }
  // Gives the weights' pages back that reading brought into memory; they are read anew when they are needed.
  void release_pages() const;

 private:
  void close();
  int open_checked(const char* path, nnapi_shim_error* error);
  int map_weights(uint64_t offset, uint64_t bytes, nnapi_shim_error* error);

  std::vector<int32_t> words_;
  Weights weights_;
  int fd_ = -1;
  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
};

}  // namespace nnapi_shim
