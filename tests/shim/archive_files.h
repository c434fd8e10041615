// SPDX-License-Identifier: BSD-3-Clause
// Archives for tests, as the converter writes them, and files that hold them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/shim/buffer_maker.h"
#include "tests/shim/temporary_files.h"
#include "tests/shim/zip_maker.h"

namespace nnapi_shim::testing {

inline constexpr size_t kPage = format::kPageAlignment;

inline std::vector<ZipEntry> entries_of(const MadeBuffer& made, const std::string& index = "data/1\ndata/0\n") {
  const auto text_bytes = [](const std::string& text) { return std::vector<uint8_t>(text.begin(), text.end()); };
  return {{"net/data.pkl", text_bytes("pickle")},
          {"net/data/0", made.weights, kPage},
          {"net/data/1", testing::bytes_of(made.words), 64},
          {"net/extra/nnapi_shim.index", text_bytes(index), 64}};
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<uint8_t>& bytes) {
    path_ = temporary_path("shim_archive_test_XXXXXX");
    const int fd = ::mkstemp(&path_[0]);
    REQUIRE(fd >= 0);
    REQUIRE(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

// A file that has the archive in its middle.
inline std::vector<uint8_t> within(const std::vector<uint8_t>& zip, size_t before, size_t after) {
  std::vector<uint8_t> outer(before + zip.size() + after, 7);
  std::copy(zip.begin(), zip.end(), outer.data() + before);
  return outer;
}

}  // namespace nnapi_shim::testing
