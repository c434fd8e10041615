// SPDX-License-Identifier: BSD-3-Clause
// The fuzzer of the host's NNAPI: libFuzzer's entry points. It links the library's objects, which are compiled with
// its coverage and with sanitizers; LibTorch is not.
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <random>

#include "tests/host_runtime/fuzz_program.h"

// With the operators here, the sanitizer can't tell new from malloc.
// Sizes that models ask for are theirs to choose; what is too large for a run has to end as OUT_OF_MEMORY. The
// sanitizer's own operator new would end the process.
void* operator new(std::size_t size) {
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return ::operator new(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

extern "C" {

const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=32:alloc_dealloc_mismatch=0";
}

int LLVMFuzzerInitialize(int*, char***) {
  setenv("NNAPI_HOST_LOG", "off", 1);
  at::set_num_threads(1);
  return 0;
}

std::size_t LLVMFuzzerMutate(uint8_t* data, std::size_t size, std::size_t max_size);

std::size_t LLVMFuzzerCustomMutator(uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 5 == 0) return LLVMFuzzerMutate(data, size, max_size);
  fuzz::Program program = fuzz::decode(data, size);
  for (unsigned count = 1 + random() % 3; count > 0; --count) fuzz::mutate(program, static_cast<unsigned>(random()));
  const fuzz::Bytes bytes = fuzz::encode(program);
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  fuzz::run(fuzz::decode(data, size));
  return 0;
}

}  // extern "C"
