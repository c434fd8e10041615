// SPDX-License-Identifier: BSD-3-Clause
// Archives far behind in their files, at offsets that a process of 32 bits has no size_t or no off_t for.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/shim/archive_files.h"
#include "tests/shim/session.h"
#include "tests/shim/temporary_files.h"

using namespace nnapi_shim::testing;
using Values = std::vector<std::vector<uint8_t>>;

namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

void write_at(int fd, uint64_t offset, const std::vector<uint8_t>& bytes) {
  REQUIRE(::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes.size()));
}

// Returns whether the system maps the bytes from each page of this place on: qemu-user 7.2 maps others for 32-bit
// programs where a mapping begins at 4 GiB or behind.
bool can_be_mapped(int fd, uint64_t offset, const std::vector<uint8_t>& bytes) {
  for (size_t begin = 0; begin < bytes.size(); begin += kPage) {
    const size_t count = bytes.size() - begin;
    void* mapping = ::mmap(nullptr, count, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset + begin));
    REQUIRE(mapping != MAP_FAILED);
    const bool is_right = std::memcmp(mapping, bytes.data() + begin, count) == 0;
    ::munmap(mapping, count);
    if (!is_right) return false;
  }
  return true;
}

// Compiles the archive at this place of the file. Returns the constants that NNAPI got.
Values values_at(int fd, uint64_t offset, uint64_t bytes, bool* is_mapped) {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error{};
  nnapi_shim_options options{};
  const std::string library = fake_path("level5");
  options.struct_bytes = sizeof options;
  options.library = library.c_str();
  const int64_t sizes[] = {2, 64};
  const nnapi_shim_shape shape = {2, sizes};
  int status = nnapi_shim_open_descriptor(fd, offset, bytes, &model, &error);
  if (status == NNAPI_SHIM_OK) status = nnapi_shim_configure(model, &options, &error);
  if (status == NNAPI_SHIM_OK) status = nnapi_shim_warm_up(model, &shape, 1, &error);
  INFO(error.message);
  REQUIRE(status == NNAPI_SHIM_OK);
  nnapi_shim_profile profile;
  nnapi_shim_get_profile(model, &profile);
  *is_mapped = profile.weights_are_mapped != 0;
  nnapi_shim_close(model);
  check_all_freed(nnapi);
  return nnapi.record().values;
}

}  // namespace

TEST_CASE("an archive far behind in its file has the weights of its place") {
  const std::vector<uint8_t> zip = make_zip(entries_of(make_buffer(three_operations())));
  bool is_mapped = false;
  Values expected;
  {
    const UnnamedFile file;
    write_at(file.fd(), 0, zip);
    expected = values_at(file.fd(), 0, zip.size(), &is_mapped);
    CHECK(is_mapped);
  }
  for (const uint64_t offset : {2 * kGiB - kPage, 3 * kGiB, 4 * kGiB - kPage, 5 * kGiB}) {
    INFO(offset);
    const UnnamedFile file;
    write_at(file.fd(), offset, zip);
    if (!can_be_mapped(file.fd(), offset, zip)) {
      WARN("not tested at " << offset << ": this system maps other bytes there");
      continue;
    }
    CHECK(values_at(file.fd(), offset, zip.size(), &is_mapped) == expected);
    CHECK(is_mapped == (sizeof(size_t) > 4));
  }
}

TEST_CASE("a zip directory larger than any archive's is not read") {
  ZipOptions options;
  options.end_64 = true;
  std::vector<size_t> positions;
  const std::vector<uint8_t> zip = make_zip(entries_of(make_buffer(three_operations())), options, &positions);
  const size_t directory = positions[4], plain_end = positions[5], end_64 = plain_end - 56 - 20;
  // Moves the end away from the directory by 4 GiB, which 32 bits do not see.
  std::vector<uint8_t> begin(zip.begin(), zip.begin() + static_cast<std::ptrdiff_t>(end_64)),
      end(zip.begin() + static_cast<std::ptrdiff_t>(end_64), zip.end());
  const auto set64 = [&](size_t at, uint64_t value) {
    for (size_t i = 0; i < 8; ++i) end[at + i] = static_cast<uint8_t>(value >> (8 * i));
  };
  set64(40, end_64 - directory + 4 * kGiB);
  set64(56 + 8, end_64 + 4 * kGiB);
  const UnnamedFile file;
  write_at(file.fd(), 0, begin);
  write_at(file.fd(), end_64 + 4 * kGiB, end);
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error{};
  CHECK(nnapi_shim_open_descriptor(file.fd(), 0, UINT64_MAX, &model, &error) == NNAPI_SHIM_BAD_MODEL);
  CHECK_THAT(error.message, Catch::Contains("its directory has more than 67108864 bytes"));
}

TEST_CASE("a model buffer larger than the process can hold") {
  if (sizeof(size_t) > 4) return;
  const MadeBuffer made = make_buffer(three_operations());
  std::vector<ZipEntry> entries = entries_of(made);
  // The words come last, so that their record may reach into a hole behind it.
  std::vector<size_t> positions;
  std::swap(entries[2], entries[3]);
  const std::vector<uint8_t> zip = make_zip(entries, {}, &positions);
  const uint64_t words = 3 * kGiB, more = words - entries[3].bytes.size();
  const size_t directory = positions[4];
  std::vector<uint8_t> begin(zip.begin(), zip.begin() + static_cast<std::ptrdiff_t>(directory)),
      end(zip.begin() + static_cast<std::ptrdiff_t>(directory), zip.end());
  const auto set32 = [](std::vector<uint8_t>* bytes, size_t at, uint64_t value) {
    for (size_t i = 0; i < 4; ++i) (*bytes)[at + i] = static_cast<uint8_t>(value >> (8 * i));
  };
  size_t central = 0;
  for (size_t i = 0; i < 3; ++i) central += 46 + entries[i].name.size();
  for (const size_t at : {size_t{20}, size_t{24}}) set32(&end, central + at, words);
  for (const size_t at : {size_t{18}, size_t{22}}) set32(&begin, positions[3] + at, words);
  set32(&end, end.size() - 22 + 16, directory + more);
  const UnnamedFile file;
  write_at(file.fd(), 0, begin);
  write_at(file.fd(), directory + more, end);
  nnapi_shim_model* model = nullptr;
  nnapi_shim_error error{};
  CHECK(nnapi_shim_open_descriptor(file.fd(), 0, UINT64_MAX, &model, &error) == NNAPI_SHIM_BAD_MODEL);
  CHECK_THAT(error.message, Catch::Contains("has 3221225472 bytes, a multiple of 4"));
}
