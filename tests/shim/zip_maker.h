// Writes zip files for tests: right ones, and ones with chosen faults.
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
  uint16_t method = 0;        // told, not done
  uint16_t flags = 0;         // in both headers
  bool sizes_follow = false;  // 0 in the local header, as flag 8 says
};

struct ZipOptions {
  bool end_64 = false;
  std::string comment;
};

// `positions`, if given, gets the place of each local header, then that of the directory, then that of the end record.
std::vector<uint8_t> make_zip(const std::vector<ZipEntry>& entries, const ZipOptions& options = {},
                              std::vector<size_t>* positions = nullptr);

}  // namespace nnapi_shim::testing
