// SPDX-License-Identifier: BSD-3-Clause
// A zip archive that is open for reading, by the shim's reader of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/shim/zip_directory.h"

namespace nnapi_convert {

// The problem of an entry whose bytes are not those that were written.
constexpr const char* kOtherChecksum =
    "it has another checksum than when it was written; copy or download the file again";

class ArchiveFile {
 public:
  // Opens a file. One that can't be opened, or that is no archive, has no records.
  explicit ArchiveFile(const std::string& path);
  // Opens the archive that lies in the file from `begin` on.
  ArchiveFile(const std::string& path, uint64_t begin, uint64_t bytes);
  ~ArchiveFile();
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;

  const nnapi_shim::ZipFile& file() const { return file_; }
  const std::vector<nnapi_shim::ZipRecord>& records() const { return records_; }
  // Returns the place of a record's bytes, counted from the archive's beginning; nothing if they aren't stored as they
  // are.
  std::optional<uint64_t> data_begin(const nnapi_shim::ZipRecord& record) const;
  // True if a weight's checksum is known: archives may be written without, and the field is then 0.
  static bool has_checksum(const nnapi_shim::ZipRecord& record) { return record.checksum != 0; }
  // Returns the message for a record whose bytes have another checksum.
  std::string checksum_problem(const nnapi_shim::ZipRecord& record) const;
  // Returns a record's bytes, unpacked if they are deflated. Throws DamagedFile where lengths and headers contradict
  // each other or the checksum is another, and ConvertError (kBadFile) for what isn't read. Not for records larger than
  // memory.
  std::string content(const nnapi_shim::ZipRecord& record) const;
  // Throws ConvertError (kBadFile) where two records have one name, or where their bytes overlap: readers would
  // disagree on what such a file holds.
  void check_records() const;

 private:
  void read_directory();
  // Returns the place of a deflated record's bytes.
  std::optional<uint64_t> packed_begin(const nnapi_shim::ZipRecord& record) const;

  std::string path_;
  nnapi_shim::ZipFile file_;
  std::vector<nnapi_shim::ZipRecord> records_;
};

}  // namespace nnapi_convert
