// SPDX-License-Identifier: BSD-3-Clause
// Regular files are read, and nothing else is waited for.
#include "lib/base/input_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>

#include "tests/temporary_folder.h"

using namespace nnapi_convert;

namespace {

std::string problem_of(const std::string& path) {
  std::string problem;
  return text_of_file(path, problem) ? "" : problem;
}

void make_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof(address.sun_path));
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  ::close(descriptor);
}

}  // namespace

TEST_CASE("text_of_file reads regular files whole") {
  const test::TemporaryFolder folder;
  const std::string text = std::string(200'000, 'x') + '\0' + "end";
  std::ofstream(folder / "file") << text;
  std::ofstream(folder / "empty").close();
  std::string problem;
  CHECK(text_of_file(folder / "file", problem) == text);
  CHECK(problem.empty());
  CHECK(text_of_file(folder / "empty", problem) == "");
  CHECK(InputFile(folder / "file").bytes() == text.size());
}

TEST_CASE("text_of_file waits for no pipe, socket or device") {
  const test::TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  make_socket(folder.file("socket"));
  REQUIRE(::symlink(folder.file("pipe").c_str(), folder.file("link").c_str()) == 0);
  for (const std::string& path :
       {folder.file("pipe"), folder.file("link"), folder.file("socket"), std::string("/dev/zero")}) {
    CHECK(problem_of(path) == "it is a pipe or a device; a regular file is needed");
  }
  CHECK(problem_of(folder.path()) == "it is a folder; a file is needed");
  CHECK(problem_of(folder / "none") == std::strerror(ENOENT));
}

TEST_CASE("problem_of_library names what the system's loader would wait for") {
  const test::TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("pipe.so").c_str(), 0600) == 0);
  std::ofstream(folder / "file.so").close();
  CHECK(problem_of_library(folder.file("pipe.so")) == "it is a pipe or a device; a regular file is needed");
  CHECK(problem_of_library(folder.path()) == "it is a folder; a file is needed");
  CHECK(problem_of_library(folder.file("file.so")).empty());
  CHECK(problem_of_library(folder.file("none.so")).empty());
  CHECK(problem_of_library("libneuralnetworks.so").empty());
}
