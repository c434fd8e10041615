// SPDX-License-Identifier: BSD-3-Clause
// Archives that Python's reader of zip files accepts, small ones and those of more than 4 GiB.
#include "lib/serialize/zip_writer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

using namespace nnapi_convert;

namespace {

// Writes an archive to a file. Zeros that stand alone in a piece become a hole of the file.
class SparseFile {
 public:
  explicit SparseFile(const std::string& path) : stream_(path, std::ios::binary) {}

  nnapi::ByteSink sink() {
    return [this](const void* data, size_t size) {
      if (data == zeros_.data()) {
        stream_.seekp(static_cast<std::streamoff>(size), std::ios::cur);
      } else {
        stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
      }
    };
  }

  // Gives `bytes` zeros.
  ZipWriter::Write zeros(uint64_t bytes) {
    return [this, bytes](const nnapi::ByteSink& sink) {
      for (uint64_t done = 0; done < bytes; done += zeros_.size()) {
        sink(zeros_.data(), static_cast<size_t>(std::min<uint64_t>(zeros_.size(), bytes - done)));
      }
    };
  }

 private:
  std::ofstream stream_;
  std::string zeros_ = std::string(size_t{1} << 20, '\0');
};

// Runs Python code in which `archive` is the file as zipfile opens it.
bool python_agrees(const std::string& path, const std::string& code) {
  const std::string whole = "import zipfile\narchive = zipfile.ZipFile('" + path + "')\n" + code;
  return std::system(("/usr/bin/python3 -c \"" + whole + "\"").c_str()) == 0;
}

ZipWriter::Write pieces(const std::vector<std::string>& texts) {
  return [texts](const nnapi::ByteSink& sink) {
    for (const std::string& text : texts) sink(text.data(), text.size());
  };
}

}  // namespace

TEST_CASE("zip writer: a piece without bytes, of no memory, changes no checksum") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("out.pt");
  {
    SparseFile file(path);
    ZipWriter zip("net", file.sink());
    zip.add("joined", 6, [](const nnapi::ByteSink& sink) {
      sink("abc", 3);
      sink(nullptr, 0);
      sink("def", 3);
    });
    zip.finish();
  }
  CHECK(python_agrees(path, "assert archive.testzip() is None"));
}

TEST_CASE("zip writer: Python finds each record, intact and aligned") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("out.pt");
  {
    SparseFile file(path);
    ZipWriter zip("net", file.sink());
    zip.add("empty", "");
    zip.add("text", "some text");
    CHECK(zip.add("data/0", 6, pieces({"abc", "", "def"})) == 0x4b8e39ef);
    zip.add(std::string(200, 'n'), std::string(100'000, 'x'));
    zip.add_stored("deflated", {0, 2, 0, 8}, pieces({std::string("\x03\x00", 2)}));  // of no bytes
    zip.finish();
  }
  CHECK(python_agrees(path, R"(
assert archive.testzip() is None
names = [entry.filename for entry in archive.infolist()]
assert names == ['net/empty', 'net/text', 'net/data/0', 'net/' + 200 * 'n', 'net/deflated'], names
assert archive.read('net/empty') == b'' and archive.read('net/text') == b'some text'
assert archive.read('net/data/0') == b'abcdef' and archive.read(names[3]) == 100000 * b'x'
assert archive.read('net/deflated') == b''
raw = open(archive.filename, 'rb').read()
for entry in archive.infolist():
    lengths = raw[entry.header_offset + 26:entry.header_offset + 30]
    assert (entry.header_offset + 30 + sum(lengths[::2]) + 256 * sum(lengths[1::2])) % 64 == 0
)"));
}

TEST_CASE("zip writer: padding lets the next record begin on a page") {
  constexpr size_t kPage = 16384;
  // With a root of 7 letters, some of the sizes let the record begin on a page even without padding.
  const std::string root =
      GENERATE(std::string("n"), std::string("network"), std::string(63, 'n'), std::string(200, 'n'));
  for (size_t before = 0; before <= kPage; before += 64) {
    std::string bytes;
    ZipWriter zip(root, [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); });
    zip.add("first", std::string(before, 't'));
    zip.add_padding("padding", "data/0", 7, kPage);
    zip.add("data/0", "weights");
    zip.finish();
    REQUIRE(bytes.find("weights") % kPage == 0);
    REQUIRE(bytes.find("weights") <= before + 2 * kPage);
  }
}

TEST_CASE("zip writer: a record of more than 4 GiB, and records behind it") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("out.pt");
  constexpr uint64_t kLarge = (uint64_t{1} << 32) + 5;
  {
    SparseFile file(path);
    ZipWriter zip("net", file.sink());
    zip.add_padding("padding", "data/0", kLarge, 16384);
    zip.add("data/0", kLarge, file.zeros(kLarge));
    zip.add("behind", "some text");
    zip.add("data/1", 3 << 20, file.zeros(3 << 20));
    zip.finish();
  }
  CHECK(python_agrees(path, R"(
entries = {entry.filename: entry for entry in archive.infolist()}
large = entries['net/data/0']
assert large.file_size == large.compress_size == (1 << 32) + 5
assert archive.read('net/behind') == b'some text' and archive.read('net/data/1') == bytes(3 << 20)
assert entries['net/behind'].header_offset > 1 << 32
file = open(archive.filename, 'rb')
file.seek(large.header_offset)
header = file.read(30)
begin = large.header_offset + 30 + header[26] + 256 * header[27] + header[28] + 256 * header[29]
assert begin % 16384 == 0, begin
archive.open(large).read(1000)
)"));
}

TEST_CASE("zip writer: a record beyond 4 GiB that is large only when it is inflated") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("out.pt");
  constexpr uint64_t kLarge = (uint64_t{1} << 32) + 5;
  {
    SparseFile file(path);
    ZipWriter zip("net", file.sink());
    zip.add_stored("data/0", {kLarge, kLarge}, file.zeros(kLarge));
    zip.add_stored("large", {uint64_t{5} << 30, 2, 0, 8}, pieces({std::string("\x03\x00", 2)}));
    zip.add("behind", "some text");
    zip.finish();
  }
  CHECK(python_agrees(path, R"(
_, large, behind = archive.infolist()
assert large.header_offset > 1 << 32
assert (large.file_size, large.compress_size) == (5 << 30, 2)
assert archive.read(behind) == b'some text'
)"));
}

TEST_CASE("zip writer: more records than 16 bits count") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("out.pt");
  {
    SparseFile file(path);
    ZipWriter zip("net", file.sink());
    for (int i = 0; i < 70'000; ++i) zip.add("data/" + std::to_string(i), "x");
    zip.finish();
  }
  CHECK(
      python_agrees(path, "assert len(archive.infolist()) == 70000\nassert archive.read('net/data/69999') == b'x'\n"));
}

TEST_CASE("zip writer: a record of another size than was said is a mistake") {
  ZipWriter zip("net", [](const void*, size_t) {});
  CHECK_THROWS_AS(zip.add("data/0", 7, pieces({"abcdef"})), std::logic_error);
}
