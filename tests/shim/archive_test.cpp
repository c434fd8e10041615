// SPDX-License-Identifier: BSD-3-Clause
// Archives: where words and weights are found.
#include "lib/shim/archive.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "lib/shim/model_buffer.h"
#include "tests/shim/archive_files.h"
#include "tests/shim/buffer_checks.h"

#include <fcntl.h>
#include <unistd.h>

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using Catch::Contains;

namespace {

// Checks an open archive's words and weights. `by_file`: NNAPI gets the weights by file descriptor.
void check_content(const Archive& archive, const MadeBuffer& made, bool by_file) {
  CHECK(archive.parts()[0].words == made.words);
  const Weights& weights = archive.parts()[0].weights;
  REQUIRE(weights.bytes == made.weights.size());
  CHECK(std::memcmp(weights.data, made.weights.data(), made.weights.size()) == 0);
  CHECK((weights.fd >= 0) == by_file);
  if (!by_file) return;
  CHECK(weights.file_offset % static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) == 0);
  std::vector<uint8_t> read(made.weights.size());
  CHECK(::pread(weights.fd, read.data(), read.size(), static_cast<off_t>(weights.file_offset)) ==
        static_cast<ssize_t>(read.size()));
  CHECK(read == made.weights);
}

void check_opens(const std::vector<uint8_t>& zip, const MadeBuffer& made, bool by_file = true) {
  const TemporaryFile file(zip);
  nnapi_shim_error error{};
  Archive archive;
  const int status = archive.open(file.path(), &error);
  INFO(error.message);
  REQUIRE(status == NNAPI_SHIM_OK);
  check_content(archive, made, by_file);
}

}  // namespace

TEST_CASE("archive: words and weights, mapped and by file descriptor") {
  const MadeBuffer made = make_buffer(full_net());
  check_opens(make_zip(entries_of(made)), made);
  check_opens(make_zip(entries_of(made, "data/1\ndata/0")), made);  // the last line may lack its end
}

TEST_CASE("archive: ZIP64, sizes that follow, a comment") {
  const MadeBuffer made = make_buffer(full_net());
  std::vector<ZipEntry> entries = entries_of(made);
  ZipOptions options;
  options.end_64 = true;
  check_opens(make_zip(entries, options), made);
  for (ZipEntry& entry : entries) entry.is_64 = true;
  check_opens(make_zip(entries, options), made);
  check_opens(make_zip(entries), made);
  for (ZipEntry& entry : entries) entry.sizes_follow = true;
  check_opens(make_zip(entries, options), made);
  options.comment = "PK\5\6 is how an end record starts" + std::string(300, '.');
  check_opens(make_zip(entries, options), made);
  options.comment = std::string(0xFFFF, '.');
  check_opens(make_zip(entries, options), made);
}

TEST_CASE("archive: weights that are not aligned to pages go by memory") {
  const MadeBuffer made = make_buffer(full_net());
  for (const size_t alignment : {size_t{1}, size_t{64}, size_t{1000}}) {
    std::vector<ZipEntry> entries = entries_of(made);
    entries[0].bytes.resize(12345);
    entries[1].alignment = alignment;
    check_opens(make_zip(entries), made, false);
  }
}

TEST_CASE("archive: a net without weights") {
  MadeBuffer made = make_buffer(add_net());
  made.weights.clear();
  const TemporaryFile file(make_zip(entries_of(made)));
  Archive archive;
  nnapi_shim_error error{};
  REQUIRE(archive.open(file.path(), &error) == NNAPI_SHIM_OK);
  CHECK(archive.parts()[0].weights.bytes == 0);
  CHECK(archive.parts()[0].weights.fd == -1);
}

TEST_CASE("archive: moved, opened again, without its copy of the words") {
  const MadeBuffer made = make_buffer(full_net());
  const TemporaryFile file(make_zip(entries_of(made)));
  Archive archive;
  nnapi_shim_error error{};
  REQUIRE(archive.open(file.path(), &error) == NNAPI_SHIM_OK);
  const uint8_t* data = archive.parts()[0].weights.data;
  Archive moved(std::move(archive));
  CHECK(moved.parts()[0].weights.data == data);
  moved.drop_words();
  CHECK(moved.parts()[0].words.empty());
  CHECK(data[0] == made.weights[0]);
  REQUIRE(moved.open(file.path(), &error) == NNAPI_SHIM_OK);
  CHECK(moved.parts()[0].words == made.words);
  const ArchivePart& part = moved.parts()[0];
  REQUIRE(ModelBuffer::parse(part.words.data(), part.words.size(), part.weights.bytes, &error) != nullptr);
  CHECK(moved.open("/nowhere", &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(moved.parts().empty());
}

TEST_CASE("archive: what a reader reads, such as a decrypted file") {
  struct Reader {
    std::vector<uint8_t> bytes;  // each inverted
    size_t fails_from = SIZE_MAX;
    int calls = 0;
    uint64_t next = 0;
    static int read(void* context, uint64_t offset, void* destination, size_t bytes) {
      auto* reader = static_cast<Reader*>(context);
      ++reader->calls;
      REQUIRE(offset == reader->next);
      REQUIRE(bytes <= size_t{1} << 20);
      REQUIRE(offset + bytes <= reader->bytes.size());
      reader->next = offset + bytes;
      if (offset + bytes > reader->fails_from) return -1;
      for (size_t i = 0; i < bytes; ++i) {
        static_cast<uint8_t*>(destination)[i] = static_cast<uint8_t>(~reader->bytes[offset + i]);
      }
      return 0;
    }
  };
  const MadeBuffer made = make_buffer(full_net());
  std::vector<size_t> positions;
  std::vector<ZipEntry> entries = entries_of(made);
  entries.push_back({"net/data/2", std::vector<uint8_t>(3 << 20, 7)});  // the app has no use for it
  Reader reader{make_zip(entries, {}, &positions)};
  for (uint8_t& byte : reader.bytes) byte = static_cast<uint8_t>(~byte);
  nnapi_shim_error error{};
  Archive archive;
  REQUIRE(archive.open(&Reader::read, &reader, reader.bytes.size(), &error) == NNAPI_SHIM_OK);
  const int calls = reader.calls;
  archive.release_pages();
  check_content(archive, made, false);
  CHECK(calls == 4);
  CHECK(reader.calls == calls);
  // A reader that fails at any place: one sentence, and nothing is left.
  for (size_t fails_from = 0; fails_from < reader.bytes.size(); fails_from += 1 + reader.bytes.size() / 97) {
    reader.fails_from = fails_from;
    reader.next = 0;
    const int status = archive.open(&Reader::read, &reader, reader.bytes.size(), &error);
    CHECK(status == NNAPI_SHIM_BAD_MODEL);
    CHECK(archive.parts().empty());
    CHECK(std::string(error.message).find("the archive can't be read: its reader fails at byte ") == 0);
  }
}

TEST_CASE("archive: many opened and closed leave no descriptor open") {
  const TemporaryFile file(make_zip(entries_of(make_buffer(add_net()))));
  const TemporaryFile bad({1, 2, 3});
  const auto next_descriptor = [] {
    const int fd = ::dup(0);
    ::close(fd);
    return fd;
  };
  const int before = next_descriptor();
  nnapi_shim_error error{};
  for (int i = 0; i < 20; ++i) {
    Archive archive;
    CHECK(archive.open(file.path(), &error) == NNAPI_SHIM_OK);
    CHECK(archive.open(bad.path(), &error) == NNAPI_SHIM_BAD_MODEL);
  }
  CHECK(next_descriptor() == before);
}

TEST_CASE("archive: within another file, mapped where its place allows") {
  const MadeBuffer made = make_buffer(full_net());
  const std::vector<uint8_t> zip = make_zip(entries_of(made));
  for (const size_t begin : {kPage, size_t{4}}) {
    const std::vector<uint8_t> outer = within(zip, begin, 100);
    const TemporaryFile file(outer);
    const int fd = ::open(file.path(), O_RDONLY);
    nnapi_shim_error error{};
    Archive archive;
    const int status = archive.open(fd, begin, zip.size(), &error);
    ::close(fd);
    INFO(error.message);
    REQUIRE(status == NNAPI_SHIM_OK);
    check_content(archive, made, begin == kPage);
  }
}

TEST_CASE("archive: up to the end of another file") {
  const MadeBuffer made = make_buffer(full_net());
  const std::vector<uint8_t> zip = make_zip(entries_of(made));
  const std::vector<uint8_t> outer = within(zip, 64, 0);
  const TemporaryFile file(outer);
  const int fd = ::open(file.path(), O_RDONLY);
  nnapi_shim_error error{};
  Archive archive;
  CHECK(archive.open(fd, 64, Archive::kToEnd, &error) == NNAPI_SHIM_OK);
  CHECK(archive.parts()[0].words == made.words);
  CHECK(archive.open(fd, 64, zip.size() + 1, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(error.message, Contains("the archive is said to be"));
  CHECK(archive.open(fd, outer.size() + 1, Archive::kToEnd, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(archive.open(fd, outer.size() + 1, 0, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(archive.open(fd, ~uint64_t{5}, 10, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(archive.open(fd, 65, zip.size() - 1, &error) == NNAPI_SHIM_BAD_MODEL);
  CHECK(archive.open(fd, 64, zip.size() - 1, &error) == NNAPI_SHIM_BAD_MODEL);
  ::close(fd);
  CHECK(archive.open(fd, 64, zip.size(), &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(error.message, Contains("can't be used"));
}

TEST_CASE("archive: in memory") {
  const MadeBuffer made = make_buffer(full_net());
  const std::vector<uint8_t> zip = make_zip(entries_of(made));
  nnapi_shim_error error{};
  Archive archive;
  REQUIRE(archive.open(zip.data(), zip.size(), &error) == NNAPI_SHIM_OK);
  CHECK(archive.parts()[0].words == made.words);
  const Weights& weights = archive.parts()[0].weights;
  CHECK(weights.fd == -1);
  REQUIRE(weights.bytes == made.weights.size());
  CHECK(weights.data > zip.data());
  CHECK(std::memcmp(weights.data, made.weights.data(), made.weights.size()) == 0);
  for (size_t bytes = 0; bytes < zip.size(); bytes += 97) {
    const std::vector<uint8_t> part(zip.begin(), zip.begin() + static_cast<std::ptrdiff_t>(bytes));
    CHECK(archive.open(part.data() == nullptr ? zip.data() : part.data(), bytes, &error) == NNAPI_SHIM_BAD_MODEL);
  }
  CHECK(archive.open(nullptr, 5, &error) == NNAPI_SHIM_BAD_ARGUMENT);
}

TEST_CASE("archive: other records may be compressed") {
  const MadeBuffer made = make_buffer(add_net());
  std::vector<ZipEntry> entries = entries_of(made);
  entries[0].method = 8;
  check_opens(make_zip(entries), made);
}
