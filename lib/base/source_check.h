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

// The bytes of one weight, which lie in memory mapped from the file, privately: who changes them there changes no file,
// and a sum that is wrong says nothing before the file itself was read. Not for several threads at once.
class SourceCheck {
 public:
  // `problem` is the message of the error for bytes with another checksum.
  SourceCheck(const void* begin, uint64_t bytes, uint32_t checksum, std::string problem)
      : begin_(static_cast<const uint8_t*>(begin)), bytes_(bytes), needed_(checksum), problem_(std::move(problem)) {}

  // Tells that somebody is about to read these bytes: adds them to the sum if they follow those that it has.
  void add(const void* begin, uint64_t bytes);
  // Returns true if these bytes are all of the weight's.
  bool covers(const void* begin, uint64_t bytes) const { return begin == begin_ && bytes == bytes_; }
  // Tells the checksum of all bytes, which somebody had to compute.
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
  // Reads what was not found right. Throws ConvertError (kBadFile) for a weight with another checksum, and where the
  // file can't be read.
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
