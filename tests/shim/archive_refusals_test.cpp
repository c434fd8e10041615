// SPDX-License-Identifier: BSD-3-Clause
// Every way in which an archive may be damaged.
#include "lib/shim/archive.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "tests/shim/archive_files.h"
#include "tests/shim/buffer_checks.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using Catch::Contains;

namespace {

// Positions in the records of a zip file (APPNOTE.TXT).
constexpr size_t kLocalFlags = 6, kLocalMethod = 8, kLocalSize = 22, kLocalNameBytes = 26, kLocalExtraBytes = 28,
                 kLocalName = 30, kCentralExtraBytes = 30, kCentralBytes = 24, kCentralStored = 20, kCentralOffset = 42;

std::string open_refusal(const std::vector<uint8_t>& zip, int status = NNAPI_SHIM_BAD_MODEL) {
  const TemporaryFile file(zip);
  nnapi_shim_error error{};
  Archive archive;
  CHECK(archive.open(file.path(), &error) == status);
  CHECK(error.status == status);
  CHECK(archive.parts().empty());
  return error.message;
}

void set16(std::vector<uint8_t>* zip, size_t at, unsigned value) {
  (*zip)[at] = static_cast<uint8_t>(value);
  (*zip)[at + 1] = static_cast<uint8_t>(value >> 8);
}

void set32(std::vector<uint8_t>* zip, size_t at, uint32_t value) {
  set16(zip, at, value & 0xFFFF);
  set16(zip, at + 2, value >> 16);
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

TEST_CASE("archive refused: no file") {
  Archive archive;
  nnapi_shim_error error{};
  CHECK(archive.open("/nowhere/net.pt", &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(error.message, Contains("/nowhere/net.pt can't be opened: No such file"));
  CHECK(archive.open("/proc", &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(error.message, Contains("/proc is no regular file"));
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

TEST_CASE("archive refused: an index that is missing or wrong") {
  const MadeBuffer made = make_buffer(add_net());
  const auto index_refusal = [&](const std::string& index) { return open_refusal(make_zip(entries_of(made, index))); };
  for (const std::string& index :
       {std::string(), std::string("\n"), std::string("data/1\n"), std::string("data/1"), std::string("data/1\n\n"),
        std::string("data/1\ndata/0\nx"), std::string("data/1\0\ndata/0\n", 15), std::string(5000, 'x')}) {
    CHECK_THAT(index_refusal(index), Contains("record extra/nnapi_shim.index of") && Contains("has neither two lines"));
  }
  CHECK_THAT(index_refusal("data/9\ndata/0\n"), Contains("has no record net/data/9; convert the model again"));
  CHECK_THAT(index_refusal("data/1\ndata/9\n"), Contains("has no record net/data/9"));
  CHECK_THAT(index_refusal("net/data/1\ndata/0\n"), Contains("has no record net/net/data/1"));
  const std::string most = sizeof(size_t) > 4 ? "4 GiB" : "2 GiB";
  CHECK_THAT(index_refusal("data.pkl\ndata/0\n"), Contains("has 6 bytes, a multiple of 4 below " + most + " needed"));
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
