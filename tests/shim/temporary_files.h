// SPDX-License-Identifier: BSD-3-Clause
// Temporary files for tests that run on Android, too: memfd_create is not on every Android, nor std::filesystem in
// every C++ library of an NDK.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkstemp
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

namespace nnapi_shim::testing {

// A path in the folder for temporary files.
inline std::string temporary_path(const char* name) {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/" + name;
}

class UnnamedFile {
 public:
  UnnamedFile() {
    std::string path = temporary_path("shim-test-XXXXXX");
    fd_ = ::mkstemp(path.data());
    REQUIRE(fd_ >= 0);
    ::unlink(path.c_str());
  }
  ~UnnamedFile() { ::close(fd_); }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace nnapi_shim::testing
