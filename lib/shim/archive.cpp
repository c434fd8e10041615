// SPDX-License-Identifier: BSD-3-Clause
// Makes off_t 64 bits wide on 32-bit systems, too.
#define _FILE_OFFSET_BITS 64

#include "lib/shim/archive.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "lib/format/attached_records.h"
#include "lib/format/program_format.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

static_assert(sizeof(off_t) == sizeof(int64_t), "a header before this file's first line chose the size of off_t");

constexpr size_t kMaxIndexBytes = 1 << 16;
// The bytes of a buffer have to fit into 32 bits, and into a vector of this process.
constexpr uint64_t kMaxWordBytes =
    std::min<uint64_t>(std::numeric_limits<uint32_t>::max(), std::numeric_limits<ptrdiff_t>::max());

class RecordFinder {
 public:
  RecordFinder(const ZipFile& file, nnapi_shim_error* error) : file_(file), error_(error) {}

  int read_directory() { return read_zip_directory(file_, &records_, error_); }

  // Finds the record of this name. A second record of the same name is an error.
  int find(const std::string& name, uint64_t* offset, uint64_t* bytes) const {
    const ZipRecord* found = nullptr;
    for (const ZipRecord& record : records_) {
      if (record.name != name) continue;
      if (found != nullptr) {
        return fail(error_, NNAPI_SHIM_BAD_MODEL, "%.200s has two records %.80s; convert the model again", file_.path,
                    name.c_str());
      }
      found = &record;
    }
    if (found == nullptr) {
      return fail(error_, NNAPI_SHIM_BAD_MODEL, "%.200s has no record %.80s; convert the model again", file_.path,
                  name.c_str());
    }
    *bytes = found->bytes;
    return find_record_data(file_, *found, offset, error_);
  }

  bool has(const std::string& name) const {
    return std::any_of(records_.begin(), records_.end(), [&](const ZipRecord& record) { return record.name == name; });
  }

  // Finds the archive's root folder: the part of the index record's name before "/" and kIndexRecord.
  int find_root(std::string* root) const {
    const std::string ending = std::string("/") + format::kIndexRecord;
    for (const ZipRecord& record : records_) {
      if (record.name.size() <= ending.size()) continue;
      const size_t root_bytes = record.name.size() - ending.size();
      if (record.name.compare(root_bytes, ending.size(), ending) != 0) continue;
      if (record.name.find('/') != root_bytes) continue;
      *root = record.name.substr(0, root_bytes + 1);
      return NNAPI_SHIM_OK;
    }
    return fail(
        error_, NNAPI_SHIM_BAD_MODEL,
        "%.200s has no record %s; run the file with PyTorch, or convert the model with --runtime shim, which warns of "
        "what needs PyTorch",
        file_.path, format::kIndexRecord);
  }

 private:
  const ZipFile& file_;
  nnapi_shim_error* error_;
  std::vector<ZipRecord> records_;
};

int read_index(const ZipFile& file, const RecordFinder& records, const std::string& root, ArchiveIndex* index,
               nnapi_shim_error* error) {
  uint64_t offset = 0, bytes = 0;
  if (const int status = records.find(root + format::kIndexRecord, &offset, &bytes)) return status;
  std::string text;
  if (bytes <= kMaxIndexBytes) {
    text.resize(static_cast<size_t>(bytes));
    if (!read_at(file, offset, &text[0], text.size())) text.clear();
  }
  if (index->parse(text)) return NNAPI_SHIM_OK;
  return fail(
      error, NNAPI_SHIM_BAD_MODEL,
      "record %s of %.200s has neither two lines, the names of two records, nor the lines of several segments or "
      "of a program; use a newer runtime, or convert the model again",
      format::kIndexRecord, file.path);
}

int read_words(const ZipFile& file, uint64_t offset, uint64_t bytes, std::vector<int32_t>* words,
               nnapi_shim_error* error) {
  if (bytes % sizeof(int32_t) != 0 || bytes > kMaxWordBytes) {
    return fail(
        error, NNAPI_SHIM_BAD_MODEL,
        "the model buffer in %.200s has %llu bytes, a multiple of 4 below %u GiB needed; convert the model again",
        file.path, static_cast<unsigned long long>(bytes), static_cast<unsigned>((kMaxWordBytes + 1) >> 30));
  }
  words->resize(static_cast<size_t>(bytes / sizeof(int32_t)));
  if (read_at(file, offset, words->data(), static_cast<size_t>(bytes))) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_MODEL, "the model buffer in %.200s can't be read; copy the file again", file.path);
}

// Reads a record that an archive may lack.
int read_attached(const ZipFile& file, const RecordFinder& records, const std::string& name, std::string* bytes,
                  nnapi_shim_error* error) {
  if (!records.has(name)) return NNAPI_SHIM_OK;
  uint64_t offset = 0, size = 0;
  if (const int status = records.find(name, &offset, &size)) return status;
  if (size > 0 && size <= nnapi_convert::kMostAttachedBytes) {
    bytes->resize(static_cast<size_t>(size));
    if (read_at(file, offset, &(*bytes)[0], bytes->size())) return NNAPI_SHIM_OK;
  }
  return fail(error, NNAPI_SHIM_BAD_MODEL,
              "record %.80s of %.200s has %llu bytes, or can't be read; copy the file again", name.c_str(), file.path,
              static_cast<unsigned long long>(size));
}

}  // namespace

Archive::Archive(Archive&& other) noexcept {
  *this = std::move(other);
}

Archive& Archive::operator=(Archive&& other) noexcept {
  std::swap(parts_, other.parts_);
  std::swap(wiring_, other.wiring_);
  std::swap(program_, other.program_);
  std::swap(has_steps_, other.has_steps_);
  std::swap(attached_, other.attached_);
  std::swap(program_copy_, other.program_copy_);
  std::swap(fd_, other.fd_);
  std::swap(mappings_, other.mappings_);
  return *this;
}

Archive::~Archive() {
  close();
}

void Archive::close() {
  for (const Mapping& mapping : mappings_) ::munmap(mapping.data, mapping.bytes);
  mappings_.clear();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  parts_.clear();
  wiring_ = Wiring();
  program_ = ProgramRecord();
  has_steps_ = false;
  attached_ = AttachedRecords();
  program_copy_ = std::vector<uint8_t>();
}

void Archive::drop_words() {
  for (ArchivePart& part : parts_) part.words = std::vector<int32_t>();
}

int Archive::open(const char* path, nnapi_shim_error* error) {
  close();
  if (path == nullptr) return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the archive's path is NULL; give a path");
  fd_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // without O_NONBLOCK, opening a pipe waits for its writer
  struct stat status;
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.300s can't be opened: %s", path, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.300s is no regular file; give an archive's path", path);
  }
  ZipFile file;
  file.path = path;
  file.bytes = kToEnd;
  return open_file(file, error);
}

int Archive::open(int fd, uint64_t offset, uint64_t bytes, nnapi_shim_error* error) {
  close();
  fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (fd_ < 0) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "file descriptor %d can't be used: %s", fd, std::strerror(errno));
  }
  ZipFile file;
  file.path = "the file of the descriptor";
  file.begin = offset;
  file.bytes = bytes;
  return open_file(file, error);
}

int Archive::open(const void* memory, uint64_t bytes, nnapi_shim_error* error) {
  close();
  if (memory == nullptr) return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the archive's memory is NULL; give an archive");
  ZipFile file;
  file.path = "the archive in memory";
  file.memory = static_cast<const uint8_t*>(memory);
  file.bytes = bytes;
  const int status = read_records(file, error);
  if (status != NNAPI_SHIM_OK) close();
  return status;
}

int Archive::open(nnapi_shim_reader reader, void* context, uint64_t bytes, nnapi_shim_error* error) {
  close();
  int status = read_all(reader, context, bytes, error);
  if (status == NNAPI_SHIM_OK) {
    ZipFile file;
    file.path = "what the reader reads";
    file.memory = mappings_[0].data;
    file.bytes = bytes;
    status = read_records(file, error);
  }
  if (status == NNAPI_SHIM_OK) {
    release_but_weights();
  } else {
    close();
  }
  return status;
}

// Frees the memory pages of an archive read by a reader that hold neither weights nor a program.
void Archive::release_but_weights() {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const Mapping all = mappings_[0];
  std::vector<bool> is_kept((all.bytes + page - 1) / page);
  const auto keep = [&](const uint8_t* data, uint64_t bytes) {
    const auto begin = static_cast<size_t>(data - all.data);
    for (size_t i = begin / page; i * page < begin + static_cast<size_t>(bytes); ++i) is_kept[i] = true;
  };
  for (const ArchivePart& part : parts_) {
    if (part.weights.bytes > 0) keep(part.weights.data, part.weights.bytes);
  }
  if (program_.data != nullptr && program_copy_.empty()) keep(program_.data, program_.bytes);
  for (auto begin = is_kept.begin(); begin != is_kept.end();) {
    const auto end = std::find(begin, is_kept.end(), !*begin);
    const auto first = static_cast<size_t>(begin - is_kept.begin()), pages = static_cast<size_t>(end - begin);
    if (!*begin) ::madvise(all.data + first * page, pages * page, MADV_DONTNEED);
    begin = end;
  }
}

// Reads an archive into memory of this process alone: a decrypted file must not appear in another one.
int Archive::read_all(nnapi_shim_reader reader, void* context, uint64_t bytes, nnapi_shim_error* error) {
  constexpr size_t kPart = size_t{1} << 20;
  if (bytes == 0) return fail(error, NNAPI_SHIM_BAD_MODEL, "what the reader reads is no archive: it has no bytes");
  const bool fits = bytes <= std::numeric_limits<size_t>::max();
  const auto size = static_cast<size_t>(bytes);
  void* memory = fits ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    return fail(error, NNAPI_SHIM_FAILED, "there is no memory for an archive of %llu bytes; free some memory",
                static_cast<unsigned long long>(bytes));
  }
  mappings_.push_back({static_cast<uint8_t*>(memory), size});
  for (size_t at = 0; at < size; at += kPart) {
    if (reader(context, at, static_cast<uint8_t*>(memory) + at, std::min(kPart, size - at)) == 0) continue;
    return fail(error, NNAPI_SHIM_BAD_MODEL, "the archive can't be read: its reader fails at byte %zu of %zu", at,
                size);
  }
  ::mprotect(memory, size, PROT_READ);
  return NNAPI_SHIM_OK;
}

// Opens the part of the file fd_ that `part` describes.
int Archive::open_file(const ZipFile& part, nnapi_shim_error* error) {
  ZipFile file = part;
  file.fd = fd_;
  struct stat about;
  int status = NNAPI_SHIM_OK;
  if (::fstat(fd_, &about) != 0) {
    status = fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.300s can't be opened: %s", file.path, std::strerror(errno));
  } else if (!S_ISREG(about.st_mode)) {
    status = fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.300s is not a file; give the path of an archive", file.path);
  } else {
    const auto size = static_cast<uint64_t>(about.st_size);
    const uint64_t left = file.begin <= size ? size - file.begin : 0;
    if (file.bytes == kToEnd) file.bytes = left;
    if (file.begin <= size && file.bytes <= left) {
      status = read_records(file, error);
    } else {
      status = fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.300s has %llu bytes, and the archive is said to be %llu at %llu",
                    file.path, static_cast<unsigned long long>(size), static_cast<unsigned long long>(file.bytes),
                    static_cast<unsigned long long>(file.begin));
    }
  }
  if (status != NNAPI_SHIM_OK) close();
  return status;
}

int Archive::read_records(const ZipFile& file, nnapi_shim_error* error) {
  RecordFinder records(file, error);
  std::string root;
  ArchiveIndex index;
  if (const int status = records.read_directory()) return status;
  if (const int status = records.find_root(&root)) return status;
  if (const int status = read_index(file, records, root, &index, error)) return status;
  wiring_ = std::move(index.wiring);
  const std::pair<const char*, std::string*> attached[] = {
      {nnapi_convert::picture_record::kRecord, &attached_.pictures},
      {nnapi_convert::kLabelsRecord, &attached_.labels},
      {nnapi_convert::kNotesRecord, &attached_.notes}};
  for (const auto& [name, bytes] : attached) {
    if (const int status = read_attached(file, records, root + name, bytes, error)) return status;
  }
  for (const RecordNames& names : index.records) {
    uint64_t offset = 0, bytes = 0;
    parts_.emplace_back();
    if (const int status = records.find(root + names.words, &offset, &bytes)) return status;
    if (const int status = read_words(file, offset, bytes, &parts_.back().words, error)) return status;
    if (const int status = records.find(root + names.weights, &offset, &bytes)) return status;
    if (const int status = map_weights(file, offset, bytes, &parts_.back().weights, error)) return status;
  }
  has_steps_ = !index.program.empty();
  const std::string program = root + (has_steps_ ? index.program : nnapi_convert::program_format::kRecord);
  if (!has_steps_ && !records.has(program)) return NNAPI_SHIM_OK;
  uint64_t offset = 0, bytes = 0;
  if (const int status = records.find(program, &offset, &bytes)) return status;
  return read_program(file, offset, bytes, error);
}

int Archive::read_program(const ZipFile& file, uint64_t offset, uint64_t bytes, nnapi_shim_error* error) {
  constexpr uint64_t kAlignment = nnapi_convert::program_format::kDataAlignment;
  if (bytes == 0 || bytes > std::numeric_limits<ptrdiff_t>::max()) {
    return fail(error, NNAPI_SHIM_BAD_MODEL, "the program in %.200s has %llu bytes; convert the model again", file.path,
                static_cast<unsigned long long>(bytes));
  }
  program_.bytes = static_cast<size_t>(bytes);
  Weights mapped;
  if (const int status = map_weights(file, offset, bytes, &mapped, error)) return status;
  program_.data = mapped.data;
  if (reinterpret_cast<uintptr_t>(mapped.data) % kAlignment == 0) return NNAPI_SHIM_OK;
  // The program is copied: the allocator aligns memory for every dtype.
  program_copy_.assign(mapped.data, mapped.data + program_.bytes);
  program_.data = program_copy_.data();
  return NNAPI_SHIM_OK;
}

void Archive::release_pages() const {
  if (fd_ < 0) return;
  for (const Mapping& mapping : mappings_) ::madvise(mapping.data, mapping.bytes, MADV_DONTNEED);
}

int Archive::map_weights(const ZipFile& file, uint64_t offset, uint64_t bytes, Weights* weights,
                         nnapi_shim_error* error) {
  if (bytes == 0) return NNAPI_SHIM_OK;
  if (file.memory != nullptr) {
    weights->data = file.memory + offset;
    weights->bytes = bytes;
    return NNAPI_SHIM_OK;
  }
  offset += file.begin;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t before = offset % page;
  if (bytes > std::numeric_limits<size_t>::max() - page) {
    return fail(error, NNAPI_SHIM_BAD_MODEL, "the weights have %llu bytes, more than this process can map",
                static_cast<unsigned long long>(bytes));
  }
  const auto map_bytes = static_cast<size_t>(before + bytes);
  void* mapping = ::mmap(nullptr, map_bytes, PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(offset - before));
  if (mapping == MAP_FAILED) {
    return fail(error, NNAPI_SHIM_FAILED, "%llu bytes of weights can't be mapped: %s; free some memory",
                static_cast<unsigned long long>(bytes), std::strerror(errno));
  }
  mappings_.push_back({static_cast<uint8_t*>(mapping), map_bytes});
  weights->data = static_cast<const uint8_t*>(mapping) + before;
  weights->bytes = bytes;
  if (before != 0) return NNAPI_SHIM_OK;
  weights->fd = fd_;
  weights->file_offset = offset;
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
