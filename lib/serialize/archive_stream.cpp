#include "lib/serialize/archive_stream.h"

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// Signatures and offsets of numbers of the zip format (APPNOTE.TXT, 4.3).
constexpr uint32_t kDescriptorSignature = 0x08074b50, kEntrySignature = 0x02014b50;
constexpr size_t kDescriptorChecksum = 4, kEntryChecksum = 16, kEntryHeaderBegin = 42, kEntryBytes = 46;

using Bytes = std::vector<uint8_t>;

Bytes copied(const void* data, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(data);
  return Bytes(begin, begin + size);
}

uint32_t number_at(const uint8_t* bytes, size_t offset, size_t width = 4) {
  uint32_t number = 0;
  for (size_t i = 0; i < width; ++i) number |= static_cast<uint32_t>(bytes[offset + i]) << (8 * i);
  return number;
}

void put_number(uint8_t* bytes, uint32_t number) {
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(number >> (8 * i));
}

size_t entry_size(const uint8_t* entry) {
  return kEntryBytes + number_at(entry, 28, 2) + number_at(entry, 30, 2) + number_at(entry, 32, 2);
}

// Returns the offset of the record's header. From 4 GiB on, the offset is the last 8 bytes of the field after the name.
uint64_t header_begin(const uint8_t* entry) {
  const uint32_t begin = number_at(entry, kEntryHeaderBegin);
  if (begin != UINT32_MAX) return begin;
  const uint8_t* field = entry + kEntryBytes + number_at(entry, 28, 2);
  const uint8_t* last = field + 4 + number_at(field, 2, 2) - 8;
  return number_at(last, 0) | static_cast<uint64_t>(number_at(last, 4)) << 32;
}

bool begins_with(const void* data, size_t size, uint32_t signature) {
  return size >= 4 && number_at(static_cast<const uint8_t*>(data), 0) == signature;
}

}  // namespace

void ArchiveStream::append(const void* data, size_t size) {
  if (expects_descriptor_) {
    append_descriptor(data, size);
  } else if (late_.holds(data)) {
    append_late(data, size);
  } else if (is_end_ && begins_with(data, size, kEntrySignature)) {
    append_directory(data, size);
  } else {
    file_.append(data, size);
  }
  position_ += size;
}

void ArchiveStream::append_late(const void* data, size_t size) {
  size_t written = 0;
  const uint32_t checksum = late_.write(data, releases_, [&](const void* bytes, size_t count) {
    written += count;
    file_.append(bytes, count);
  });
  NNC_ASSERT(written == size, "a record has another size than its tensor");
  records_.push_back({position_, checksum});
  expects_descriptor_ = true;
}

void ArchiveStream::append_descriptor(const void* data, size_t size) {
  NNC_ASSERT(begins_with(data, size, kDescriptorSignature), "a record's content is not followed by its descriptor");
  Bytes descriptor = copied(data, size);
  put_number(descriptor.data() + kDescriptorChecksum, records_.back().checksum);
  file_.append(descriptor.data(), descriptor.size());
  expects_descriptor_ = false;
}

// Corrects the checksums of late tensors in the directory, whose entries are in the order of the records.
void ArchiveStream::append_directory(const void* data, size_t size) {
  Bytes directory = copied(data, size);
  const uint8_t* end = directory.data() + size;
  uint8_t* entry = directory.data();
  for (const LateRecord& record : records_) {
    for (uint8_t* next = entry + entry_size(entry); next != end && header_begin(next) < record.begin;
         next = entry + entry_size(entry)) {
      entry = next;
    }
    put_number(entry + kEntryChecksum, record.checksum);
  }
  file_.append(directory.data(), directory.size());
}

}  // namespace nnapi_convert
