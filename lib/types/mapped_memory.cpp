// SPDX-License-Identifier: BSD-3-Clause
#include "lib/types/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

namespace nnapi_convert {
namespace {

constexpr uint64_t kTensorAlignment = 64;  // the alignment of LibTorch's tensors

// A part of a file in memory, from the beginning of a page on.
struct Mapping {
  void* begin;
  size_t size;
  std::shared_ptr<SourceCheck> check = nullptr;
};

void unmap(void* context) {
  const std::unique_ptr<Mapping> mapping(static_cast<Mapping*>(context));
  ::munmap(mapping->begin, mapping->size);
}

}  // namespace

bool can_map(uint64_t position, uint64_t bytes) {
  return bytes >= kLeastMappedBytes && position % kTensorAlignment == 0;
}

namespace {

at::DataPtr map(int file, uint64_t position, uint64_t bytes, std::shared_ptr<SourceCheck>* check, uint32_t checksum,
                const std::string& problem) {
  const uint64_t in_page = position % static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  Mapping mapping{::mmap(nullptr, bytes + in_page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file,
                         static_cast<off_t>(position - in_page)),
                  bytes + in_page};
  if (mapping.begin == MAP_FAILED) return {};
  char* data = static_cast<char*>(mapping.begin) + in_page;
  if (check != nullptr) *check = mapping.check = std::make_shared<SourceCheck>(data, bytes, checksum, problem);
  return {data, new Mapping(std::move(mapping)), unmap, at::Device(at::DeviceType::CPU)};
}

}  // namespace

at::DataPtr map_memory(int file, uint64_t position, uint64_t bytes) {
  return map(file, position, bytes, nullptr, 0, "");
}

at::DataPtr map_unchecked(int file, uint64_t position, uint64_t bytes, uint32_t checksum, const std::string& problem,
                          SourceChecks& checks) {
  std::shared_ptr<SourceCheck> check;
  at::DataPtr memory = map(file, position, bytes, &check, checksum, problem);
  if (check == nullptr) check = std::make_shared<SourceCheck>(nullptr, bytes, checksum, problem);
  checks.add(check, position);
  return memory;
}

std::shared_ptr<SourceCheck> check_of(const at::Tensor& tensor) {
  const at::DataPtr& memory = tensor.storage().data_ptr();
  const bool is_mapped = memory.get_deleter() == &unmap;
  return is_mapped ? static_cast<const Mapping*>(memory.get_context())->check : nullptr;
}

}  // namespace nnapi_convert
