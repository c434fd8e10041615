// SPDX-License-Identifier: BSD-3-Clause
// Tests that a file has all appended data in order, and that finish() reports errors.
#include "lib/base/output_file.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "tests/temporary_folder.h"

using namespace nnapi_convert;

TEST_CASE("output file: small and large pieces, in order, after what was there") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("file");
  std::string expected;
  std::ofstream(path) << "what was there before";
  OutputFile file(path);
  for (const size_t size : {size_t{0}, size_t{3}, size_t{700'001}, size_t{1} << 18, size_t{1}}) {
    std::string piece(size, '\0');
    for (size_t i = 0; i < size; ++i) piece[i] = static_cast<char>(i * 31 + i / 251 + size);
    file.append(piece.data(), piece.size());
    expected += piece;
  }
  CHECK(file.finish().empty());
  std::ifstream stream(path, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  CHECK(found == expected);
}

TEST_CASE("output file: what was reserved and not written is not in the file") {
  const test::TemporaryFolder folder;
  const uint64_t reserved = GENERATE(0, 3, 5, 100'000);
  OutputFile file(folder.file("file"));
  file.reserve(reserved);
  file.append("abcde", 5);
  CHECK(file.finish().empty());
  std::ifstream stream(folder.file("file"), std::ios::binary);
  CHECK(std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()} == "abcde");
}

TEST_CASE("output file: nothing can be reserved where there is no disk") {
  OutputFile file("/dev/null");
  file.reserve(100'000);
  file.append("abcde", 5);
  CHECK(file.finish().empty());
}

TEST_CASE("output file: the first error stays") {
  OutputFile full("/dev/full");
  const std::string text(1000, 'x');
  full.append(text.data(), text.size());
  CHECK(full.finish() == "No space left on device");
  OutputFile missing("/nowhere/file");
  missing.append(text.data(), text.size());
  CHECK(missing.finish() == "No such file or directory");
}
