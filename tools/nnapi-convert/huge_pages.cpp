// Asks for memory in pages of 2 MB: the start of LibTorch fills 50 MB with small objects, and the kernel needs longer
// for 12,000 pages of 4 KB. Linux gives such pages where /sys/kernel/mm/transparent_hugepage/enabled says "madvise" or
// "always". mimalloc's own option for large pages would take those that an administrator has set apart for other
// programs.
#include <mimalloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace {

constexpr size_t kBytes = size_t{64} << 20;
constexpr size_t kAlignment = size_t{32} << 20;  // of mimalloc's segments

// Gives mimalloc memory that it uses first. Where that fails, mimalloc asks the kernel as ever.
void use_huge_pages() {
  void* memory =
      ::mmap(nullptr, kBytes + kAlignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  const size_t before = (kAlignment - reinterpret_cast<uintptr_t>(memory) % kAlignment) % kAlignment;
  char* begin = static_cast<char*>(memory) + before;
  if (before != 0) ::munmap(memory, before);
  ::munmap(begin + kBytes, kAlignment - before);
  if (::madvise(begin, kBytes, MADV_HUGEPAGE) == 0) mi_manage_os_memory(begin, kBytes, true, false, true, -1);
}

// The functions of this section run before those of the libraries, which allocate memory already.
__attribute__((section(".preinit_array"), used)) void (*const kBeforeLibraries)() = use_huge_pages;

}  // namespace
