// Puts the contents of late tensors (deferred_tensors.h) into the zip archive that PyTorch's writer makes.
#pragma once

#include <vector>

#include "lib/base/output_file.h"
#include "lib/serialize/deferred_tensors.h"

namespace nnapi_convert {

// PyTorch's writer hands over an archive piece by piece, from its beginning to its end: each record's content in one
// piece, then a descriptor with the content's checksum. A late tensor has only zeros in memory, so the writer hands
// over zeros and their checksum. This class replaces both, and the checksum in the archive's directory, by the right
// ones.
class ArchiveStream {
 public:
  // With `releases`, late tensors can be written only once.
  ArchiveStream(OutputFile& file, DeferredTensors& late, bool releases)
      : file_(file), late_(late), releases_(releases) {}

  void append(const void* data, size_t size);
  // Tells that the records are complete and the archive's directory follows.
  void begin_end() { is_end_ = true; }
  size_t late_records() const { return records_.size(); }

 private:
  struct LateRecord {
    uint64_t begin;  // the offset of the content in the archive
    uint32_t checksum;
  };

  void append_late(const void* data, size_t size);
  void append_descriptor(const void* data, size_t size);
  void append_directory(const void* data, size_t size);

  OutputFile& file_;
  DeferredTensors& late_;
  bool releases_;
  std::vector<LateRecord> records_;
  uint64_t position_ = 0;
  bool expects_descriptor_ = false;
  bool is_end_ = false;
};

}  // namespace nnapi_convert
