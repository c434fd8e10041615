// A file without a name, for tests that share memory by a descriptor: memfd_create is not on every Android.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkstemp
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

namespace nnapi_shim::testing {

class UnnamedFile {
 public:
  UnnamedFile() {
    std::string path = (std::filesystem::temp_directory_path() / "shim-test-XXXXXX").string();
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
