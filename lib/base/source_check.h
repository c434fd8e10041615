// SPDX-License-Identifier: BSD-3-Clause
// Checks the checksums of weights in a model's file while the weights are read for something else: reading a file of
// 500 MB for its checksums alone would take a fifth of its conversion's time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nnapi_convert {

// Sums the bytes of one weight in memory that is mapped privately from the file. The process may change that memory
// without changing the file, so a wrong sum proves nothing until the file itself is read. Not thread-safe.
class SourceCheck {
 public:
  // `problem` is the message of the error for bytes with another checksum.
  SourceCheck(const void* begin, uint64_t bytes, uint32_t checksum, std::string problem)
      : begin_(static_cast<const uint8_t*>(begin)), bytes_(bytes), needed_(checksum), problem_(std::move(problem)) {}

  // Call it before reading these bytes: adds them to the sum if they follow the bytes that are already in it.
  void add(const void* begin, uint64_t bytes);
  // Returns true if these bytes are all of the weight's.
  bool covers(const void* begin, uint64_t bytes) const { return begin == begin_ && bytes == bytes_; }
  // Compares a checksum of all bytes that the caller computed anyway.
  void compare(uint32_t checksum) { is_right_ = is_right_ || checksum == needed_; }

 private:
  friend class SourceChecks;

  const uint8_t* begin_;
  uint64_t bytes_, done_ = 0;
  uint32_t needed_, sum_ = 0;  // of the first done_ bytes
  bool is_right_ = false;
  std::string problem_;
};

// The checks of a file's weights, and the file, which stays open for finish().
class SourceChecks {
 public:
  // `file` is an open file; it is duplicated.
  explicit SourceChecks(int file);
  ~SourceChecks();
  SourceChecks(const SourceChecks&) = delete;
  SourceChecks& operator=(const SourceChecks&) = delete;

  // Adds the check of bytes that begin at `position` of the file.
  void add(const std::shared_ptr<SourceCheck>& check, uint64_t position);
  // Reads from the file each weight whose sum is not yet found right. Throws ConvertError (kBadFile) for a weight with
  // another checksum, and if the file can't be read.
  void finish();

 private:
  void read_whole(SourceCheck& check, uint64_t position) const;

  struct Entry {
    std::shared_ptr<SourceCheck> check;
    uint64_t position;
  };
  int file_;
  std::vector<Entry> entries_;
};

}  // namespace nnapi_convert
