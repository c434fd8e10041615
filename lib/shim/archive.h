// SPDX-License-Identifier: BSD-3-Clause
// Reads the words and weights of a model, or of its segments, from the archive (.pt, .ptl) that nnapi-convert writes.
//
// The archive is a zip file, plain or ZIP64, that stores these records uncompressed. This reader checks no CRC of the
// records: the words carry their own checksum, and checking the weights would read all of them into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/shim/archive_index.h"
#include "lib/shim/attachments.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"
#include "lib/shim/zip_directory.h"

namespace nnapi_shim {

// A segment. The words are little-endian. The weights live as long as the archive. Their descriptor is -1, so that
// NNAPI gets the memory and not the file, if there are no weights or if their record does not start at a multiple of
// the page size: nnapi-convert aligns the record, but another program may have packed the archive anew. If another
// process shortens the file, reading the weights ends in SIGBUS, as with any mapping: replace such files, don't rewrite
// them.
struct ArchivePart {
  std::vector<int32_t> words;
  Weights weights;
};

// The record of a program, whose bytes live as long as the archive; null without a program.
struct ProgramRecord {
  const uint8_t* data = nullptr;
  size_t bytes = 0;
};

// Its destructor closes the file and unmaps the weights. Movable.
class Archive {
 public:
  Archive() = default;
  Archive(Archive&& other) noexcept;
  Archive& operator=(Archive&& other) noexcept;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive();

  // Finds the record "<root>/extra/nnapi_shim.index" and the records that it names, and maps the weights read-only.
  // Returns NNAPI_SHIM_OK; NNAPI_SHIM_BAD_ARGUMENT if the file can't be opened; NNAPI_SHIM_BAD_MODEL if it is no
  // archive, is damaged, has these records deflated or was not written with --runtime shim;
  // NNAPI_SHIM_FAILED if the weights can't be mapped.
  int open(const char* path, nnapi_shim_error* error);
  // Opens an archive that begins at `offset` of an open file and has `bytes` bytes; kToEnd: up to the file's end. Keeps
  // a descriptor of its own; the caller may close `fd`.
  static constexpr uint64_t kToEnd = ~uint64_t{0};
  int open(int fd, uint64_t offset, uint64_t bytes, nnapi_shim_error* error);
  // Opens an archive in memory, which has to outlive this object.
  int open(const void* memory, uint64_t bytes, nnapi_shim_error* error);
  // Opens an archive of `bytes` bytes through `reader`, which reads it once, from its begin to its end, before this
  // function returns. The weights stay in memory of this process.
  int open(nnapi_shim_reader reader, void* context, uint64_t bytes, nnapi_shim_error* error);

  // Returns the segments, in the order in which they run; one for a whole model, and none if no archive is open.
  const std::vector<ArchivePart>& parts() const { return parts_; }
  // Returns the wiring of the segments.
  const Wiring& wiring() const { return wiring_; }
  // Returns the program of the steps that run outside of NNAPI.
  const ProgramRecord& program() const { return program_; }
  // Returns whether the program has steps between the segments, so that only the program can run them. Otherwise it
  // only gives arguments and results the names and forms that they have in PyTorch.
  bool has_steps() const { return has_steps_; }
  // Returns the records that tell an app about the model.
  const AttachedRecords& attached() const { return attached_; }
  // Frees the words, which ModelBuffer::parse copies.
  void drop_words();
  // Frees the memory pages of weights that are mapped from a file; the system reads a page from there again when it is
  // needed.
  void release_pages() const;

 private:
  void close();
  int open_file(const ZipFile& file, nnapi_shim_error* error);
  int read_records(const ZipFile& file, nnapi_shim_error* error);
  int map_weights(const ZipFile& file, uint64_t offset, uint64_t bytes, Weights* weights, nnapi_shim_error* error);
  int read_program(const ZipFile& file, uint64_t offset, uint64_t bytes, nnapi_shim_error* error);
  int read_all(nnapi_shim_reader reader, void* context, uint64_t bytes, nnapi_shim_error* error);

  void release_but_weights();

  struct Mapping {
    uint8_t* data;
    size_t bytes;
  };

  std::vector<ArchivePart> parts_;
  Wiring wiring_;
  ProgramRecord program_;
  bool has_steps_ = false;
  AttachedRecords attached_;
  std::vector<uint8_t> program_copy_;  // a copy, if the record isn't aligned in its place
  int fd_ = -1;
  std::vector<Mapping> mappings_;  // each segment's weights in a file; or the whole archive, if a reader read it
};

}  // namespace nnapi_shim
