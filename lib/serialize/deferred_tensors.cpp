// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/deferred_tensors.h"

#include <ATen/ATen.h>
#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

#include "lib/serialize/checksum.h"
#include "lib/types/constant_tensor.h"

namespace nnapi_convert {
namespace {

// Smaller constants are evaluated at once: late evaluation would save nothing.
constexpr size_t kLeastBytes = size_t{64} << 10;

// Returns a read-only tensor of zeros that takes no memory and does not count towards a process's memory limit.
at::Tensor reserved_tensor(const std::vector<int64_t>& shape, at::ScalarType type, size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return at::from_blob(
      data, shape, [bytes](void* begin) { ::munmap(begin, bytes); }, type);
}

// Returns the CRC-32 of the bytes.
uint32_t write_to_memory(const DeferredTensors::Write& write, bool releases, void* memory) {
  auto* out = static_cast<uint8_t*>(memory);
  uint32_t checksum = 0;
  write(releases, [&](const void* bytes, size_t size) {
    checksum = add_to_checksum(checksum, bytes, size);
    std::memcpy(out, bytes, size);
    out += size;
  });
  return checksum;
}

}  // namespace

at::Tensor DeferredTensors::add(const nnapi::Constant& constant) {
  if (constant.byte_count() < kLeastBytes) return to_tensor(constant);
  // If the source's bytes are written unchanged, their checksum is the source's.
  const std::shared_ptr<SourceCheck> check = constant.is_source() ? constant.whole_check() : nullptr;
  const auto write = [value = check == nullptr ? constant : constant.checked_by(nullptr)](
                         bool releases, const nnapi::ByteSink& sink) mutable {
    value.write_to(sink);
    if (releases) value.release();
  };
  const auto compare = [check](uint32_t checksum) {
    if (check != nullptr) check->compare(checksum);
  };
  return keep({reserved_tensor(constant.shape(), scalar_type(constant.type()), constant.byte_count()), write, compare});
}

at::Tensor DeferredTensors::add_shared(const nnapi::Constant& constant) {
  if (const at::Tensor* known = shared_.find(constant)) return *known;
  const at::Tensor tensor = add(constant);
  shared_.add(constant, tensor);
  return tensor;
}

at::Tensor DeferredTensors::add(uint64_t size, Write write, OnWritten on_written) {
  const std::vector<int64_t> shape = {static_cast<int64_t>(size)};
  if (size < kLeastBytes) {
    at::Tensor tensor = at::empty(shape, at::kByte);
    // A package writes the weights of its models again.
    on_written(write_to_memory(write, false, tensor.data_ptr()));
    return tensor;
  }
  return keep({reserved_tensor(shape, at::kByte, size), std::move(write), std::move(on_written)});
}

at::Tensor DeferredTensors::keep(Late late) {
  const at::Tensor tensor = late.tensor;
  late_.emplace(key_of(tensor), std::move(late));
  return tensor;
}

void DeferredTensors::fill() {
  for (auto& [key, late] : late_) {
    if (::mprotect(late.tensor.data_ptr(), late.tensor.nbytes(), PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    late.on_written(write_to_memory(late.write, true, late.tensor.data_ptr()));
  }
  late_.clear();
}

void DeferredTensors::write(const at::Tensor& tensor, bool releases, const nnapi::ByteSink& sink) const {
  late_.at(key_of(tensor)).write(releases, sink);
}

void DeferredTensors::note_written(const at::Tensor& tensor, uint32_t checksum) const {
  late_.at(key_of(tensor)).on_written(checksum);
}

void release_late(nnapi::Constant& constant) {
  if (constant.byte_count() >= kLeastBytes) constant.release();
}

}  // namespace nnapi_convert
