// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/file_pages.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nnapi_convert {
namespace {

// Flags of an entry of pagemap (Linux: Documentation/admin-guide/mm/pagemap.rst). A page of a private mapping that was
// changed is a page of memory, not of the file.
constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62, kOfFile = uint64_t{1} << 61;

bool is_unchanged(uint64_t entry) {
  return (entry & kPresent) != 0 ? (entry & kOfFile) != 0 : (entry & kSwapped) == 0;
}

// Returns true if pagemap shows that all pages are unchanged.
bool are_unchanged(uintptr_t first_page, size_t pages) {
  std::vector<uint64_t> entries(pages);
  const size_t bytes = pages * sizeof(uint64_t);
  const int pagemap = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const ssize_t read = ::pread(pagemap, entries.data(), bytes, static_cast<off_t>(first_page * sizeof(uint64_t)));
  if (pagemap >= 0) ::close(pagemap);
  return read == static_cast<ssize_t>(bytes) && std::all_of(entries.begin(), entries.end(), is_unchanged);
}

int drop_read_only_parts(dl_phdr_info* library, size_t /*info_bytes*/, void* least_bytes) {
  for (size_t i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    if (part.p_filesz < *static_cast<size_t*>(least_bytes)) continue;
    drop_file_pages(reinterpret_cast<const void*>(library->dlpi_addr + part.p_vaddr), part.p_filesz);
  }
  return 0;  // go on with the next library
}

}  // namespace

void drop_file_pages(const void* begin, size_t size) {
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / page_bytes;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(begin) + size) / page_bytes;
  if (end <= first || !are_unchanged(first, end - first)) return;
  ::madvise(reinterpret_cast<void*>(first * page_bytes), (end - first) * page_bytes, MADV_DONTNEED);
}

void drop_library_pages(size_t least_bytes) {
  ::dl_iterate_phdr(drop_read_only_parts, &least_bytes);
}

}  // namespace nnapi_convert
