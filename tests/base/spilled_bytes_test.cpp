// SPDX-License-Identifier: BSD-3-Clause
// Data come back from a temporary file as they were, or from memory where there is no such file.
#include "lib/base/spilled_bytes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>

using namespace nnapi_convert;

namespace {

std::string text_of(size_t size, char first) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(first + i % 97);
  return text;
}

std::string read(const SpilledBytes& bytes) {
  std::string text(bytes.size(), '?');
  bytes.read(text.data());
  return text;
}

}  // namespace

TEST_CASE("file bytes: without a folder for temporary files they stay in memory") {
  const pid_t child = ::fork();  // a process has one file: this case stands before those that make it
  if (child == 0) {
    ::setenv("TMPDIR", "/nowhere", 1);
    const std::string text = text_of(10'000, 'k');
    const SpilledBytes bytes(text.data(), text.size());
    ::_exit(!bytes.is_in_file() && read(bytes) == text ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("file bytes: each object has its data, after others went") {
  std::vector<std::unique_ptr<SpilledBytes>> all;
  for (size_t i = 0; i < 20; ++i) {
    const std::string text = text_of(i * 5000, static_cast<char>('a' + i));
    all.push_back(std::make_unique<SpilledBytes>(text.data(), text.size()));
    if (i % 3 == 0) all[i / 2].reset();
  }
  size_t found = 0;
  for (size_t i = 0; i < 20; ++i) {
    if (all[i] == nullptr) continue;
    CHECK(all[i]->is_in_file());
    CHECK(read(*all[i]) == text_of(i * 5000, static_cast<char>('a' + i)));
    ++found;
  }
  CHECK(found > 10);
}
