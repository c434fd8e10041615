// SPDX-License-Identifier: BSD-3-Clause
// Writes zip archives in the form that PyTorch gives them: each record's content begins at a multiple of 64 bytes, and
// its sizes and checksum stand after it, so that a record is written in one pass. Records and archives of 4 GiB and
// more have ZIP64 fields. Format: APPNOTE.TXT of PKWARE, 4.3 and 4.5.3.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/nnapi/constant.h"

namespace nnapi_convert {

// The archive directory's facts about a record.
struct ZipContent {
  uint64_t bytes = 0;
  uint64_t stored_bytes = 0;
  uint32_t checksum = 0;  // CRC-32 of the bytes
  uint16_t method = 0;    // 0: the bytes are stored as they are; 8: deflated
};

class ZipWriter {
 public:
  // A function that hands over a record's content in pieces.
  using Write = std::function<void(const nnapi::ByteSink& sink)>;

  // `sink` takes the archive's next bytes. All records are in the folder `root`; in no folder if it is empty.
  ZipWriter(const std::string& root, nnapi::ByteSink sink)
      : root_(root.empty() ? "" : root + '/'), sink_(std::move(sink)) {}

  void add(const std::string& name, const std::string& content);
  // Adds a record of `bytes` bytes, as many as `write` has to give. Returns their CRC-32.
  uint32_t add(const std::string& name, uint64_t bytes, const Write& write);
  // Adds a record, deflated if that is smaller.
  void add_deflated(const std::string& name, const std::string& content);
  // Adds a record of another archive; `write` gives its stored bytes.
  void add_stored(const std::string& name, const ZipContent& content, const Write& write);
  // Adds a record of zeros, at least one, so that the content of the next record begins at a multiple of `alignment`.
  void add_padding(const std::string& name, const std::string& next, uint64_t next_bytes, uint64_t alignment);
  // Writes the directory. Nothing can be added after that.
  void finish();

 private:
  struct Record {
    std::string name;
    uint64_t begin;  // the offset of its header
    ZipContent content;
  };

  void begin_record(const Record& record);
  void write_content(const Record& record, const Write& write);
  void end_record(Record record);
  void put(const std::string& bytes);

  std::string root_;
  nnapi::ByteSink sink_;
  std::vector<Record> records_;
  uint64_t position_ = 0;
};

}  // namespace nnapi_convert
