// Archives: where words and weights are found, and every way in which one may be damaged.
#include "lib/shim/archive.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "lib/shim/model_buffer.h"
#include "tests/shim/buffer_checks.h"
#include "tests/shim/zip_maker.h"

#include <fcntl.h>
#include <unistd.h>

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using Catch::Contains;
using Catch::EndsWith;

namespace {

constexpr size_t kPage = format::kPageAlignment;
// Positions in the records of a zip file (APPNOTE.TXT).
constexpr size_t kLocalFlags = 6, kLocalMethod = 8, kLocalSize = 22, kLocalNameBytes = 26, kLocalExtraBytes = 28,
                 kLocalName = 30, kCentralExtraBytes = 30, kCentralBytes = 24, kCentralStored = 20, kCentralOffset = 42;

std::vector<uint8_t> text_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::vector<ZipEntry> entries_of(const MadeBuffer& made, const std::string& index = "data/1\ndata/0\n") {
  return {{"net/data.pkl", text_bytes("pickle")},
          {"net/data/0", made.weights, kPage},
          {"net/data/1", testing::bytes_of(made.words), 64},
          {"net/extra/nnapi_shim.index", text_bytes(index), 64}};
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<uint8_t>& bytes) {
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
  std::string path_ = "/tmp/shim_archive_test_XXXXXX";
};

std::string open_refusal(const std::vector<uint8_t>& zip, int status = NNAPI_SHIM_BAD_MODEL) {
  const TemporaryFile file(zip);
  nnapi_shim_error error{};
  Archive archive;
  CHECK(archive.open(file.path(), &error) == status);
  CHECK(error.status == status);
  CHECK(archive.words().empty());
  CHECK(archive.weights().data == nullptr);
  CHECK(archive.weights().fd == -1);
  return error.message;
}

// Checks an open archive's words and weights. `by_file`: NNAPI gets the weights by file descriptor.
void check_content(const Archive& archive, const MadeBuffer& made, bool by_file) {
  CHECK(archive.words() == made.words);
  const Weights& weights = archive.weights();
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

void set16(std::vector<uint8_t>* zip, size_t at, unsigned value) {
  (*zip)[at] = static_cast<uint8_t>(value);
  (*zip)[at + 1] = static_cast<uint8_t>(value >> 8);
}

void set32(std::vector<uint8_t>* zip, size_t at, uint32_t value) {
  set16(zip, at, value & 0xFFFF);
  set16(zip, at + 2, value >> 16);
}

// A file that has the archive in its middle.
std::vector<uint8_t> within(const std::vector<uint8_t>& zip, size_t before, size_t after) {
  std::vector<uint8_t> outer(before + zip.size() + after, 7);
  std::copy(zip.begin(), zip.end(), outer.data() + before);
  return outer;
}

// An archive of the small net, and the places of its parts.
struct Made {
  explicit Made(const ZipOptions& options = {}) { zip = make_zip(entries_of(buffer), options, &positions); }
  size_t local(size_t entry) const { return positions[entry]; }
  size_t directory() const { return positions[4]; }
  size_t end() const { return positions[5]; }
  // Returns the offset of the directory's entry number `entry`.
  size_t central(size_t entry) const {
    size_t at = directory();
    for (const ZipEntry& before : entries_of(buffer)) {
      if (entry-- == 0) break;
      at += 46 + before.name.size();
    }
    return at;
  }

  MadeBuffer buffer = make_buffer(add_net());
  std::vector<size_t> positions;
  std::vector<uint8_t> zip;
};

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
  CHECK(archive.weights().bytes == 0);
  CHECK(archive.weights().fd == -1);
}

TEST_CASE("archive: moved, opened again, without its copy of the words") {
  const MadeBuffer made = make_buffer(full_net());
  const TemporaryFile file(make_zip(entries_of(made)));
  Archive archive;
  nnapi_shim_error error{};
  REQUIRE(archive.open(file.path(), &error) == NNAPI_SHIM_OK);
  const uint8_t* data = archive.weights().data;
  Archive moved(std::move(archive));
  CHECK(moved.weights().data == data);
  moved.drop_words();
  CHECK(moved.words().empty());
  CHECK(data[0] == made.weights[0]);
  REQUIRE(moved.open(file.path(), &error) == NNAPI_SHIM_OK);
  CHECK(moved.words() == made.words);
  REQUIRE(ModelBuffer::parse(moved.words().data(), moved.words().size(), moved.weights().bytes, &error) != nullptr);
  CHECK(moved.open("/nowhere", &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(moved.weights().data == nullptr);
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
    CHECK(archive.weights().data == nullptr);
    CHECK(std::string(error.message).find("the archive can't be read: its reader fails at byte ") == 0);
  }
}

TEST_CASE("archive: many opened and closed leave no descriptor open") {
  const TemporaryFile file(Made().zip);
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
  CHECK(archive.words() == made.words);
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
  CHECK(archive.words() == made.words);
  const Weights& weights = archive.weights();
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

TEST_CASE("archive refused: no file") {
  Archive archive;
  nnapi_shim_error error{};
  CHECK(archive.open("/nowhere/net.pt", &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(error.message, Contains("/nowhere/net.pt can't be opened: No such file"));
  CHECK(archive.open("/tmp", &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(error.message, Contains("/tmp is not a file"));
  CHECK(archive.open(nullptr, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(archive.open("/nowhere", nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
}

TEST_CASE("archive refused: no zip file") {
  CHECK_THAT(open_refusal({}), Contains("shorter than any archive"));
  CHECK_THAT(open_refusal(std::vector<uint8_t>(21)), Contains("shorter than any archive"));
  CHECK_THAT(open_refusal(std::vector<uint8_t>(100000)), Contains("does not end as zip files do"));
  Made made;
  made.zip.push_back(0);
  CHECK_THAT(open_refusal(made.zip), Contains("does not end as zip files do; copy or convert the model again"));
}

TEST_CASE("archive refused: truncation at every byte of a small file") {
  MadeBuffer buffer = make_buffer(add_net());
  std::vector<ZipEntry> entries = entries_of(buffer);
  for (ZipEntry& entry : entries) entry.alignment = 1;
  const std::vector<uint8_t> zip = make_zip(entries);
  for (size_t size = 0; size < zip.size(); ++size) {
    open_refusal({zip.begin(), zip.begin() + static_cast<long>(size)});
    open_refusal({zip.end() - static_cast<long>(size), zip.end()});
  }
}

TEST_CASE("archive refused: an end that is wrong") {
  const auto end_refusal = [](size_t word, uint32_t value) {
    Made made;
    set32(&made.zip, made.end() + word, value);
    return open_refusal(made.zip);
  };
  CHECK_THAT(end_refusal(16, 0x7FFFFFFF), Contains("directory does not lie before its end"));
  CHECK_THAT(end_refusal(12, 0x7FFFFFFF), Contains("directory does not lie before its end"));
  CHECK_THAT(end_refusal(12, 100), Contains("too short for its number of records"));
  CHECK_THAT(end_refusal(12, 200), Contains("ends within a record"));
  CHECK_THAT(end_refusal(4, 1), Contains("several volumes"));
  CHECK_THAT(end_refusal(8, 3 + 4 * 65536), Contains("several volumes"));
  CHECK_THAT(end_refusal(8, 3 + 3 * 65536), Contains("longer than its records"));
  CHECK_THAT(end_refusal(16, 0), Contains("something that is no record") || Contains("longer"));
}

TEST_CASE("archive refused: a ZIP64 end that is wrong") {
  ZipOptions options;
  options.end_64 = true;
  const auto end_refusal = [&](size_t back, uint32_t value) {
    Made made(options);
    set32(&made.zip, made.end() - back, value);
    return open_refusal(made.zip);
  };
  CHECK_THAT(end_refusal(12, 0), Contains("ZIP64 end is not where it should be"));       // locator: offset
  CHECK_THAT(end_refusal(8, 0x7FFFFFFF), Contains("ZIP64 end is not where it should"));  // its high word
  CHECK_THAT(end_refusal(16, 1), Contains("several volumes"));
  CHECK_THAT(end_refusal(4, 2), Contains("several volumes"));
  CHECK_THAT(end_refusal(76, 0), Contains("ZIP64 end is not where it should be"));  // signature
  CHECK_THAT(end_refusal(60, 1), Contains("several volumes"));
  CHECK_THAT(end_refusal(44, 5), Contains("several volumes"));               // count
  CHECK_THAT(end_refusal(36, 0xFFFFFFFF), Contains("does not lie before"));  // bytes
  CHECK_THAT(end_refusal(32, 0xFFFFFFFF), Contains("does not lie before"));
  CHECK_THAT(end_refusal(24, 0xFFFFFFFF), Contains("does not lie before"));  // offset's high word
  CHECK_THAT(end_refusal(20, 0), Contains("does not lie before"));           // no locator: numbers are full
}

TEST_CASE("archive refused: a directory that is wrong") {
  const auto central_refusal = [](size_t entry, size_t word, uint32_t value) {
    Made made;
    set32(&made.zip, made.central(entry) + word, value);
    return open_refusal(made.zip);
  };
  CHECK_THAT(central_refusal(1, 0, 0), Contains("something that is no record"));
  CHECK_THAT(central_refusal(3, kCentralExtraBytes, 1), Contains("ends within a record"));
  CHECK_THAT(central_refusal(1, kCentralBytes, 77), Contains("record net/data/0 of") && Contains("stored and has two"));
  CHECK_THAT(central_refusal(1, kCentralStored, 77), Contains("is stored and has two sizes"));
  CHECK_THAT(central_refusal(1, kCentralOffset, 1), Contains("is not where the directory says"));
  CHECK_THAT(central_refusal(1, kCentralOffset, 0x7FFFFFFF), Contains("is not where the directory says"));
  CHECK_THAT(central_refusal(2, kCentralOffset, 0), Contains("has another name in its own header"));
  Made made;
  for (const size_t word : {kCentralBytes, kCentralStored}) set32(&made.zip, made.central(1) + word, 0x7FFFFFFF);
  CHECK_THAT(open_refusal(made.zip), Contains("contradicts its own header"));
  for (const size_t word : {kLocalSize, kLocalSize - 4}) set32(&made.zip, made.local(1) + word, 0x7FFFFFFF);
  CHECK_THAT(open_refusal(made.zip), Contains("is cut off"));
}

TEST_CASE("archive refused: ZIP64 fields that are wrong") {
  const MadeBuffer buffer = make_buffer(add_net());
  std::vector<ZipEntry> entries = entries_of(buffer);
  entries[0].is_64 = true;
  std::vector<size_t> positions;
  const std::vector<uint8_t> zip = make_zip(entries, {}, &positions);
  const size_t extra = positions[4] + 46 + entries[0].name.size();
  std::vector<uint8_t> changed = zip;
  set16(&changed, extra + 2, 100);
  CHECK_THAT(open_refusal(changed), Contains("an extra field in its directory is cut off"));
  changed = zip;
  set16(&changed, extra + 6 + 2, 16);
  CHECK_THAT(open_refusal(changed), Contains("a ZIP64 field in its directory is too short"));
}

TEST_CASE("archive refused: records that are compressed, encrypted or contradict their headers") {
  for (const size_t entry : {1, 2, 3}) {
    std::vector<ZipEntry> entries = entries_of(make_buffer(add_net()));
    entries[entry].method = 8;
    CHECK_THAT(open_refusal(make_zip(entries)), Contains("record " + entries[entry].name + " of") &&
                                                    Contains("is compressed, a stored one needed, so don't pack"));
    entries[entry].method = 0;
    entries[entry].flags = 1;
    CHECK_THAT(open_refusal(make_zip(entries)), Contains("is encrypted"));
    for (const auto& [place, value] : std::vector<std::pair<size_t, unsigned>>{
             {kLocalFlags, 1}, {kLocalMethod, 8}, {kLocalSize, 1}, {kLocalNameBytes, 0xFFFF}, {kLocalName, 'm'}}) {
      Made made;
      set16(&made.zip, made.local(entry) + place, value);
      CHECK_THAT(open_refusal(made.zip), Contains("own header"));
    }
    Made made;
    made.zip[made.local(entry)] = 0;
    CHECK_THAT(open_refusal(made.zip), Contains("is not where the directory says"));
  }
  Made made;
  set16(&made.zip, made.local(3) + kLocalExtraBytes, 0xFFFF);
  CHECK_THAT(open_refusal(made.zip), Contains("is cut off"));
}

TEST_CASE("archive: other records may be compressed") {
  const MadeBuffer made = make_buffer(add_net());
  std::vector<ZipEntry> entries = entries_of(made);
  entries[0].method = 8;
  check_opens(make_zip(entries), made);
}

TEST_CASE("archive refused: an index that is missing or wrong") {
  const MadeBuffer made = make_buffer(add_net());
  const auto index_refusal = [&](const std::string& index) { return open_refusal(make_zip(entries_of(made, index))); };
  for (const std::string& index :
       {std::string(), std::string("\n"), std::string("data/1\n"), std::string("data/1"), std::string("data/1\n\n"),
        std::string("data/1\ndata/0\nx"), std::string("data/1\0\ndata/0\n", 15), std::string(5000, 'x')}) {
    CHECK_THAT(index_refusal(index),
               Contains("record extra/nnapi_shim.index of") && Contains("does not have two lines"));
  }
  CHECK_THAT(index_refusal("data/9\ndata/0\n"), Contains("has no record net/data/9; convert the model again"));
  CHECK_THAT(index_refusal("data/1\ndata/9\n"), Contains("has no record net/data/9"));
  CHECK_THAT(index_refusal("net/data/1\ndata/0\n"), Contains("has no record net/net/data/1"));
  CHECK_THAT(index_refusal("data.pkl\ndata/0\n"), Contains("has 6 bytes, a multiple of 4 below 4 GiB needed"));
  for (const char* name : {"net/extra/nnapi_shim.other", "extra/nnapi_shim.index", "a/b/extra/nnapi_shim.index",
                           "/extra/nnapi_shim.index", "netextra/nnapi_shim.index"}) {
    std::vector<ZipEntry> entries = entries_of(made);
    entries[3].name = name;
    CHECK_THAT(open_refusal(make_zip(entries)), Contains("extra/nnapi_shim.index") && Contains("has no record"));
  }
  std::vector<ZipEntry> twice = entries_of(made);
  twice.push_back(twice[1]);
  CHECK_THAT(open_refusal(make_zip(twice)), Contains("has two records net/data/0"));
}
