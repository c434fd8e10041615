// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/zip_writer.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/base/error.h"
#include "lib/serialize/checksum.h"
#include "lib/serialize/rounded_up.h"

namespace nnapi_convert {
namespace {

constexpr uint32_t kHeader = 0x04034b50, kDescriptor = 0x08074b50, kEntry = 0x02014b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50, kEnd = 0x06054b50;
constexpr uint16_t kNameIsUtf8 = 0x0800, kSizesFollow = 0x0008;
constexpr uint16_t kDeflateVersion = 20, kZip64Version = 45;
constexpr uint16_t kMadeBy = 0x031e;    // PyTorch's value: Unix, version 3.0
constexpr uint64_t kIn64 = UINT32_MAX;  // numbers from this one on stand in ZIP64 fields
constexpr uint64_t kHeaderBytes = 30, kFieldBytes = 4, kRecordAlignment = 64;

// Little-endian numbers, one after the other.
class Numbers {
 public:
  Numbers& u16(uint64_t number) { return put(number, 2); }
  Numbers& u32(uint64_t number) { return put(number, 4); }
  Numbers& u64(uint64_t number) { return put(number, 8); }
  const std::string& bytes() const { return bytes_; }

 private:
  Numbers& put(uint64_t number, size_t width) {
    for (size_t i = 0; i < width; ++i) bytes_ += static_cast<char>(number >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

// Returns the ZIP64 field of the numbers that don't fit into 32 bits; empty if all do.
std::string field_64(const ZipContent& content, uint64_t begin) {
  Numbers numbers;
  if (content.bytes >= kIn64) numbers.u64(content.bytes);
  if (content.stored_bytes >= kIn64) numbers.u64(content.stored_bytes);
  if (begin >= kIn64) numbers.u64(begin);
  const std::string& bytes = numbers.bytes();
  return bytes.empty() ? "" : Numbers().u16(1).u16(bytes.size()).bytes() + bytes;
}

// Returns the offset of the end of a record's header, without the padding before its content.
uint64_t header_end(const std::string& name, const ZipContent& content, uint64_t begin) {
  return begin + kHeaderBytes + name.size() + field_64(content, begin).size() + kFieldBytes;
}

// Returns whether a descriptor follows the content; an empty record needs none.
bool has_descriptor(const ZipContent& content) {
  return content.bytes != 0;
}

uint16_t flags_of(const ZipContent& content) {
  return has_descriptor(content) ? kNameIsUtf8 | kSizesFollow : kNameIsUtf8;
}

uint16_t version_of(const ZipContent& content) {
  return content.method == 0 ? 0 : kDeflateVersion;
}

}  // namespace

void ZipWriter::add(const std::string& name, const std::string& content) {
  add(name, content.size(), [&](const nnapi::ByteSink& sink) { sink(content.data(), content.size()); });
}

uint32_t ZipWriter::add(const std::string& name, uint64_t bytes, const Write& write) {
  Record record{root_ + name, position_, {bytes, bytes}};
  begin_record(record);
  uint32_t checksum = 0;
  write_content(record, [&](const nnapi::ByteSink& sink) {
    write([&](const void* data, size_t size) {
      checksum = add_to_checksum(checksum, data, size);
      sink(data, size);
    });
  });
  record.content.checksum = checksum;
  end_record(std::move(record));
  return checksum;
}

void ZipWriter::add_deflated(const std::string& name, const std::string& content) {
  constexpr int kLevel = 6;
  constexpr uint16_t kDeflated = 8;
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  std::string packed(content.size(), '\0');
  packed.resize(libdeflate_deflate_compress(compressor.get(), content.data(), content.size(), packed.data(),
                                            packed.size()));  // 0 if it isn't smaller
  if (packed.empty()) {
    add(name, content);
    return;
  }
  const uint32_t checksum = add_to_checksum(0, content.data(), content.size());
  add_stored(name, {content.size(), packed.size(), checksum, kDeflated},
             [&](const nnapi::ByteSink& sink) { sink(packed.data(), packed.size()); });
}

void ZipWriter::add_stored(const std::string& name, const ZipContent& content, const Write& write) {
  const Record record{root_ + name, position_, content};
  begin_record(record);
  write_content(record, write);
  end_record(record);
}

void ZipWriter::add_padding(const std::string& name, const std::string& next, uint64_t next_bytes, uint64_t alignment) {
  constexpr uint64_t kDescriptorBytes = 16;
  const uint64_t begin = rounded_up(header_end(root_ + name, {}, position_), kRecordAlignment);
  const uint64_t without = header_end(root_ + next, {next_bytes, next_bytes}, begin + kDescriptorBytes);
  add(name, std::string(rounded_up(without + 1, alignment) - without, '\0'));
}

void ZipWriter::finish() {
  const uint64_t begin = position_;
  for (const Record& record : records_) {
    const ZipContent& content = record.content;
    const std::string field = field_64(content, record.begin);
    Numbers entry;
    entry.u32(kEntry).u16(0).u16(version_of(content)).u16(flags_of(content)).u16(content.method).u16(0).u16(0);
    entry.u32(content.checksum).u32(std::min(content.stored_bytes, kIn64)).u32(std::min(content.bytes, kIn64));
    entry.u16(record.name.size()).u16(field.size()).u16(0).u16(0).u16(0).u32(0).u32(std::min(record.begin, kIn64));
    put(entry.bytes() + record.name + field);
  }
  const uint64_t end = position_, count = records_.size();
  Numbers numbers;
  numbers.u32(kEnd64).u64(44).u16(kMadeBy).u16(kZip64Version).u32(0).u32(0);
  numbers.u64(count).u64(count).u64(end - begin).u64(begin);
  numbers.u32(kLocator64).u32(0).u64(end).u32(1);
  numbers.u32(kEnd).u16(0).u16(0).u16(std::min<uint64_t>(count, UINT16_MAX)).u16(std::min<uint64_t>(count, UINT16_MAX));
  numbers.u32(std::min(end - begin, kIn64)).u32(std::min(begin, kIn64)).u16(0);
  put(numbers.bytes());
}

void ZipWriter::begin_record(const Record& record) {
  const std::string field = field_64(record.content, record.begin);
  const uint64_t end = header_end(record.name, record.content, record.begin);
  const std::string padding(rounded_up(end, kRecordAlignment) - end, 'Z');
  Numbers header;
  header.u32(kHeader)
      .u16(version_of(record.content))
      .u16(flags_of(record.content))
      .u16(record.content.method)
      .u16(0)
      .u16(0);
  header.u32(0).u32(0).u32(0).u16(record.name.size()).u16(field.size() + kFieldBytes + padding.size());
  put(header.bytes() + record.name + field + "FB" + Numbers().u16(padding.size()).bytes() + padding);
}

void ZipWriter::write_content(const Record& record, const Write& write) {
  const uint64_t begin = position_;
  write([&](const void* data, size_t size) {
    position_ += size;
    sink_(data, size);
  });
  NNC_ASSERT(position_ - begin == record.content.stored_bytes, "a record has another size than was said");
}

void ZipWriter::end_record(Record record) {
  const ZipContent& content = record.content;
  Numbers descriptor;
  descriptor.u32(kDescriptor).u32(content.checksum);
  if (field_64(content, record.begin).empty()) {
    descriptor.u32(content.stored_bytes).u32(content.bytes);
  } else {
    descriptor.u64(content.stored_bytes).u64(content.bytes);
  }
  if (has_descriptor(content)) put(descriptor.bytes());
  records_.push_back(std::move(record));
}

void ZipWriter::put(const std::string& bytes) {
  position_ += bytes.size();
  sink_(bytes.data(), bytes.size());
}

}  // namespace nnapi_convert
