// SPDX-License-Identifier: BSD-3-Clause
// Writes zip files for tests: correct files, and files with chosen faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_shim::testing {

struct ZipEntry {
  std::string name;
  std::vector<uint8_t> bytes;
  size_t alignment = 1;       // of the bytes within the file
  bool is_64 = false;         // sizes and offset in ZIP64 fields
  uint16_t method = 0;        // written to the headers; the data are always stored
  uint16_t flags = 0;         // in both headers
  bool sizes_follow = false;  // sizes in the local header are 0, as flag 8 tells
};

struct ZipOptions {
  bool end_64 = false;
  std::string comment;
};

// `positions`, if given, gets the place of each local header, then that of the directory, then that of the end record.
std::vector<uint8_t> make_zip(const std::vector<ZipEntry>& entries, const ZipOptions& options = {},
                              std::vector<size_t>* positions = nullptr);

}  // namespace nnapi_shim::testing
