// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

namespace nnapi_convert {
namespace {

constexpr uint64_t kTensorAlignment = 64;  // of LibTorch's tensors

// A part of a file in memory, from the beginning of a page on.
struct Mapping {
  void* begin;
  size_t size;
};

void unmap(void* context) {
  const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(context));
  ::munmap(mapping->begin, mapping->size);
}

}  // namespace

bool can_map(uint64_t position, uint64_t bytes) {
  return bytes >= kLeastMappedBytes && position % kTensorAlignment == 0;
}

at::DataPtr map_memory(int file, uint64_t position, uint64_t bytes) {
  const uint64_t in_page = position % static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const Mapping mapping{::mmap(nullptr, bytes + in_page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file,
                               static_cast<off_t>(position - in_page)),
                        bytes + in_page};
  if (mapping.begin == MAP_FAILED) return {};
  return {static_cast<char*>(mapping.begin) + in_page, new Mapping(mapping), unmap, at::Device(at::DeviceType::CPU)};
}

}  // namespace nnapi_convert
