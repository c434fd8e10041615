// Asks for memory in pages of 2 MB: the start of LibTorch fills 50 MB with small objects, and the kernel needs longer
// for 12,000 pages of 4 KB. Linux gives such pages where /sys/kernel/mm/transparent_hugepage/enabled says "madvise" or
// "always".
#include <mimalloc.h>

namespace {

void use_huge_pages() {
  mi_option_enable(mi_option_large_os_pages);
}

// The functions of this section run before those of the libraries, which allocate memory already.
__attribute__((section(".preinit_array"), used)) void (*const kBeforeLibraries)() = use_huge_pages;

}  // namespace
