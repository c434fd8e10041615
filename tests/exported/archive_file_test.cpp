// SPDX-License-Identifier: BSD-3-Clause
// Archives of exported programs: where records lie, and files that contradict themselves.
#include "lib/converter/load/archive_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "lib/base/error.h"
#include "tests/shim/zip_maker.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;
using Catch::Contains;
using nnapi_shim::testing::make_zip;
using nnapi_shim::testing::ZipEntry;

namespace {

constexpr size_t kCentralBytes = 24, kCentralStored = 20, kCentralOffset = 42;  // in a record of the directory

std::vector<uint8_t> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::string refusal(const ArchiveFile& archive) {
  try {
    archive.check_records();
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kBadFile);
    return error.what();
  }
  return "";
}

std::vector<ZipEntry> two_entries() {
  return {{"m/one", {1, 2, 3, 4}}, {"m/two", {5, 6, 7, 8, 9}}};
}

}  // namespace

TEST_CASE("the records of each layout are found") {
  for (const char* name : {"until_2.7/cnn.pt2", "2.8/tied.pt2", "since_2.9/cnn.pt2"}) {
    const ArchiveFile archive(std::string(EXPORTED_PROGRAMS "/") + name);
    INFO(name);
    REQUIRE(archive.records().size() >= 4);
    CHECK(refusal(archive).empty());
    for (const nnapi_shim::ZipRecord& record : archive.records()) {
      const auto begin = archive.data_begin(record);
      REQUIRE(begin);
      CHECK(*begin + record.bytes <= archive.file().bytes);
    }
  }
}

TEST_CASE("an archive within another is read at its place") {
  const test::TemporaryFolder folder;
  const std::vector<uint8_t> inner = make_zip(two_entries());
  const std::string path = folder.file("outer");
  write(path, make_zip({{"m/inner", inner}}));
  const ArchiveFile outer(path);
  REQUIRE(outer.records().size() == 1);
  const ArchiveFile archive(path, *outer.data_begin(outer.records()[0]), outer.records()[0].bytes);
  REQUIRE(archive.records().size() == 2);
  char byte = 0;
  REQUIRE(nnapi_shim::read_at(archive.file(), *archive.data_begin(archive.records()[1]), &byte, 1));
  CHECK(byte == 5);
  CHECK(ArchiveFile(path, 1, inner.size()).records().empty());
}

TEST_CASE("a file that is cut anywhere has no records, or records within it") {
  const test::TemporaryFolder folder;
  const std::vector<uint8_t> whole = bytes_of_file(EXPORTED_PROGRAMS "/since_2.9/tied.pt2");
  REQUIRE(whole.size() > 1000);
  for (size_t size = 0; size < whole.size(); size += whole.size() / 97) {
    write(folder.file("cut"), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    const ArchiveFile archive(folder.file("cut"));
    CHECK(archive.records().empty());
  }
  CHECK(ArchiveFile(folder.file("missing")).records().empty());
}

TEST_CASE("hostile sizes and places are no data") {
  const test::TemporaryFolder folder;
  std::vector<size_t> positions;
  const std::vector<uint8_t> whole = make_zip(two_entries(), {}, &positions);
  const size_t directory = positions[positions.size() - 2];
  for (const size_t field : {kCentralBytes, kCentralStored, kCentralOffset}) {
    for (const uint32_t value : {0x7FFFFFFFu, 0xFFFFFFFEu, 0xFFFFFFFFu, 6u}) {
      std::vector<uint8_t> changed = whole;
      for (size_t i = 0; i < 4; ++i) changed[directory + field + i] = static_cast<uint8_t>(value >> (8 * i));
      write(folder.file("changed"), changed);
      const ArchiveFile archive(folder.file("changed"));
      for (const nnapi_shim::ZipRecord& record : archive.records()) {
        const auto begin = archive.data_begin(record);
        CHECK((!begin || *begin + record.bytes <= whole.size()));
      }
    }
  }
}

TEST_CASE("two records of one name are refused") {
  const test::TemporaryFolder folder;
  write(folder.file("twice"), make_zip({{"m/one", {1}}, {"m/two", {2}}, {"m/one", {3}}}));
  CHECK_THAT(refusal(ArchiveFile(folder.file("twice"))), Contains("two entries named m/one"));
}

TEST_CASE("records that overlap are refused") {
  const test::TemporaryFolder folder;
  std::vector<size_t> positions;
  const std::vector<uint8_t> inner = make_zip({{"m/two", {5, 6}}});
  std::vector<uint8_t> whole = make_zip({{"m/one", inner}, {"m/two", {5, 6}}}, {}, &positions);
  const auto header = std::search(whole.begin() + 1, whole.end(), inner.begin(), inner.begin() + 4);
  const auto within = static_cast<size_t>(header - whole.begin());  // the local header of what m/one holds
  const size_t directory = positions[positions.size() - 2], second = directory + 46 + 5;
  for (size_t i = 0; i < 4; ++i) whole[second + kCentralOffset + i] = static_cast<uint8_t>(within >> (8 * i));
  write(folder.file("overlap"), whole);
  CHECK_THAT(refusal(ArchiveFile(folder.file("overlap"))), Contains("m/one and m/two overlap"));
}
