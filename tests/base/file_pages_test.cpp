// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/file_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace nnapi_convert {
namespace {

const size_t kPageBytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
constexpr size_t kPages = 8;

// A file of 8 pages, mapped as models are.
class MappedPages {
 public:
  MappedPages() {
    const std::string path = folder_.file("pages");
    std::ofstream(path) << std::string(kPages * kPageBytes, 'f');
    const int file = ::open(path.c_str(), O_RDONLY);
    begin = static_cast<char*>(::mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
    ::close(file);
    REQUIRE(begin != MAP_FAILED);
    for (size_t i = 0; i < kPages; ++i) REQUIRE(const_cast<volatile char*>(begin)[i * kPageBytes] == 'f');
  }
  ~MappedPages() { ::munmap(begin, kPages * kPageBytes); }
  MappedPages(const MappedPages&) = delete;
  MappedPages& operator=(const MappedPages&) = delete;

  size_t in_process() const {
    size_t kilobytes = 0;
    std::ifstream maps("/proc/self/smaps");
    const std::string wanted = "/pages";
    bool is_here = false;
    for (std::string line; std::getline(maps, line);) {
      if (line.find(wanted, line.size() > wanted.size() ? line.size() - wanted.size() : 0) != std::string::npos) {
        is_here = true;
      } else if (is_here && line.rfind("Rss:", 0) == 0) {
        kilobytes = std::stoul(line.substr(4));
        break;
      }
    }
    return kilobytes * 1024 / kPageBytes;
  }

  char* begin;

 private:
  test::TemporaryFolder folder_;
};

// Resident bytes of the mapping that holds the address, in the process's own words.
size_t resident_bytes(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    size_t used = 0;
    const size_t dash = line.find('-');
    if (dash != std::string::npos && line.find(':') > dash) {
      const uintptr_t begin = std::stoull(line, &used, 16);
      is_here = begin <= wanted && wanted < std::stoull(line.substr(used + 1), nullptr, 16);
    } else if (is_here && line.rfind("Rss:", 0) == 0) {
      return std::stoul(line.substr(4)) * 1024;
    }
  }
  return 0;
}

// Lies among the program's constants.
constexpr size_t kTableBytes = size_t{2} << 20;
constexpr char kTable[kTableBytes] = {'t'};

size_t sum_of_table() {
  size_t sum = 0;
  for (size_t i = 0; i < kTableBytes; i += kPageBytes)
    sum += static_cast<size_t>(const_cast<const volatile char&>(kTable[i]));
  return sum;
}

}  // namespace

TEST_CASE("file pages: constants of the program leave it and come back") {
  REQUIRE(sum_of_table() == 't');
  REQUIRE(resident_bytes(kTable) >= kTableBytes);
  drop_library_pages(2 * kTableBytes);
  CHECK(resident_bytes(kTable) >= kTableBytes);
  drop_library_pages(kTableBytes);
  CHECK(resident_bytes(kTable) < kTableBytes);
  CHECK(sum_of_table() == 't');
}

TEST_CASE("file pages: unchanged ones leave the process and come back with the same content") {
  const MappedPages pages;
  REQUIRE(pages.in_process() == kPages);
  drop_file_pages(pages.begin, kPages * kPageBytes);
  CHECK(pages.in_process() == 0);
  CHECK(std::string(pages.begin, kPages * kPageBytes) == std::string(kPages * kPageBytes, 'f'));
}

TEST_CASE("file pages: a range goes from the page of its begin to the page of its end") {
  const MappedPages pages;
  drop_file_pages(pages.begin + kPageBytes + 100, 2 * kPageBytes);
  CHECK(pages.in_process() == kPages - 2);
  drop_file_pages(pages.begin + 5 * kPageBytes, kPageBytes - 1);
  drop_file_pages(pages.begin, 0);
  CHECK(pages.in_process() == kPages - 2);
}

TEST_CASE("file pages: a range with a changed page stays") {
  const MappedPages pages;
  pages.begin[3 * kPageBytes + 5] = 'c';
  drop_file_pages(pages.begin, kPages * kPageBytes);
  CHECK(pages.begin[3 * kPageBytes + 5] == 'c');
  CHECK(pages.in_process() == kPages);
}

TEST_CASE("file pages: memory of no file stays") {
  std::vector<char> bytes(kPages * kPageBytes, 'm');
  drop_file_pages(bytes.data(), bytes.size());
  CHECK(bytes == std::vector<char>(kPages * kPageBytes, 'm'));
}

}  // namespace nnapi_convert
