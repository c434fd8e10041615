// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {

MappedMemory::MappedMemory(std::size_t size, int protect, int fd, std::size_t offset)
    : size_(size), readable_((protect & PROT_READ) != 0), writable_((protect & PROT_WRITE) != 0) {
  constexpr std::size_t kMax = std::numeric_limits<int64_t>::max();
  if (size == 0) bad_data("memory: size 0 found, at least 1 needed");
  if (fd < 0) fail(ResultCode::UNMAPPABLE, "memory: file descriptor {} found", fd);
  if (offset > kMax || size > kMax - offset)
    bad_data("memory: offset {} and size {} found, beyond any file", offset, size);
  struct stat status {};
  if (fstat(fd, &status) != 0) fail(ResultCode::UNMAPPABLE, "memory: file descriptor {} is not open", fd);
  if (S_ISREG(status.st_mode) && offset + size > static_cast<uint64_t>(status.st_size)) {
    bad_data("memory: offset {} and size {} found in a file of {} bytes", offset, size, status.st_size);
  }
  skipped_ = offset % static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  base_ = mmap(nullptr, size + skipped_, protect, MAP_SHARED, fd, static_cast<off_t>(offset - skipped_));
  if (base_ == MAP_FAILED) fail(ResultCode::UNMAPPABLE, "memory: file descriptor {} cannot be mapped", fd);
}

MappedMemory::~MappedMemory() {
  munmap(base_, size_ + skipped_);
}

char* MappedMemory::at(std::size_t offset, std::size_t length) const {
  if (offset > size_ || length > size_ - offset) {
    bad_data("memory: offset {} and length {} found in {} bytes", offset, length, size_);
  }
  return static_cast<char*>(base_) + skipped_ + offset;
}

Value DeviceMemory::read(const std::string& subject) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!value_) bad_data("{}: its memory holds no value yet", subject);
  return *value_;
}

void DeviceMemory::write(const Value& value) {
  Value own = {value.shape, value.codes.clone(at::MemoryFormat::Contiguous)};
  const std::lock_guard<std::mutex> lock(mutex_);
  value_ = std::move(own);
}

void DeviceMemory::invalidate() {
  const std::lock_guard<std::mutex> lock(mutex_);
  value_.reset();
}

namespace {

void copy_mapped(const MappedMemory& source, const MappedMemory& target) {
  if (source.size() != target.size()) {
    bad_data("memory copy: {} bytes found, those of the target needed: {}", source.size(), target.size());
  }
  std::memmove(target.at(0, target.size()), source.at(0, source.size()), source.size());
}

void copy_to_device(const MappedMemory& source, DeviceMemory& target) {
  const MemoryDescriptor& descriptor = target.descriptor();
  const Shape shape = descriptor.shape();
  if (!shape.known()) {
    bad_data("memory copy: the target's dimensions are {}, known ones needed for plain bytes", to_string(shape));
  }
  const int64_t needed = byte_length(descriptor.type(), shape);
  if (source.size() != static_cast<uint64_t>(needed)) {
    bad_data("memory copy: {} bytes found, {} needed", source.size(), needed);
  }
  target.write({shape, aligned_view_of(source.at(0, source.size()), descriptor.type(), shape.dims)});
}

void copy_from_device(const DeviceMemory& source, const MappedMemory& target) {
  const Value value = source.read("memory copy");
  const std::size_t bytes = value.codes.nbytes();
  if (bytes != target.size()) bad_data("memory copy: {} bytes found, {} needed", bytes, target.size());
  if (bytes > 0) std::memcpy(target.at(0, bytes), value.codes.data_ptr(), bytes);
}

void copy_device(const DeviceMemory& source, DeviceMemory& target) {
  const Value value = source.read("memory copy");
  const MemoryDescriptor& to = target.descriptor();
  if (source.descriptor().type() != to.type()) {
    bad_data("memory copy: {} found, {} needed", name_of(source.descriptor().type()), name_of(to.type()));
  }
  if (!merged(value.shape, to.shape())) {
    bad_data("memory copy: dimensions {} found, {} needed", to_string(value.shape), to_string(to.shape()));
  }
  target.write(value);
}

}  // namespace

void copy(const Memory& source, Memory& target) {
  if (&source == &target) return;
  const auto* mapped_source = dynamic_cast<const MappedMemory*>(&source);
  const auto* mapped_target = dynamic_cast<MappedMemory*>(&target);
  if (mapped_source && !mapped_source->readable()) bad_data("memory copy: the source is not readable");
  if (mapped_target && !mapped_target->writable()) bad_data("memory copy: the target is not writable");
  if (mapped_source && mapped_target) return copy_mapped(*mapped_source, *mapped_target);
  if (mapped_source) return copy_to_device(*mapped_source, dynamic_cast<DeviceMemory&>(target));
  const auto& device_source = dynamic_cast<const DeviceMemory&>(source);
  if (mapped_target) return copy_from_device(device_source, *mapped_target);
  copy_device(device_source, dynamic_cast<DeviceMemory&>(target));
}

}  // namespace nnapi_convert::host
