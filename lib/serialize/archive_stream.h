// The zip archive that PyTorch's writer makes, with the contents of late tensors in it.
#pragma once

#include <vector>

#include "lib/base/output_file.h"
#include "lib/serialize/late_tensors.h"

namespace nnapi_convert {

// PyTorch's writer hands over an archive piece by piece, from its beginning to its end: each record's content in one
// piece, and after it a descriptor with its checksum. For a late tensor the content and the checksum are those of the
// zeros that it has in memory; here both become what they should be, and so does the checksum in the archive's
// directory.
class ArchiveStream {
 public:
  // With `releases`, late tensors can be written once only.
  ArchiveStream(OutputFile& file, LateTensors& late, bool releases) : file_(file), late_(late), releases_(releases) {}

  void append(const void* data, size_t size);
  // From here on there are no records of tensors, but the archive's directory.
  void begin_end() { is_end_ = true; }
  size_t late_records() const { return records_.size(); }

 private:
  struct LateRecord {
    uint64_t begin;  // of the content, in the archive
    uint32_t checksum;
  };

  void append_late(const void* data, size_t size);
  void append_descriptor(const void* data, size_t size);
  void append_directory(const void* data, size_t size);

  OutputFile& file_;
  LateTensors& late_;
  bool releases_;
  std::vector<LateRecord> records_;
  uint64_t position_ = 0;
  bool expects_descriptor_ = false;
  bool is_end_ = false;
};

}  // namespace nnapi_convert
