// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/archive_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"

namespace nnapi_convert {

ArchiveFile::ArchiveFile(const std::string& path) : path_(path) {
  file_.path = path_.c_str();
  file_.fd = ::open(file_.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file_.fd < 0 || ::fstat(file_.fd, &status) != 0) return;
  file_.bytes = static_cast<uint64_t>(status.st_size);
  read_directory();
}

ArchiveFile::ArchiveFile(const std::string& path, uint64_t begin, uint64_t bytes) : path_(path) {
  file_.path = path_.c_str();
  file_.fd = ::open(file_.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_.fd < 0) return;
  file_.begin = begin;
  file_.bytes = bytes;
  read_directory();
}

void ArchiveFile::read_directory() {
  nnapi_shim_error ignored;
  if (nnapi_shim::read_zip_directory(file_, &records_, &ignored) != NNAPI_SHIM_OK) records_.clear();
}

ArchiveFile::~ArchiveFile() {
  if (file_.fd >= 0) ::close(file_.fd);
}

std::optional<uint64_t> ArchiveFile::data_begin(const nnapi_shim::ZipRecord& record) const {
  uint64_t begin = 0;
  nnapi_shim_error ignored;
  if (nnapi_shim::find_record_data(file_, record, &begin, &ignored) != NNAPI_SHIM_OK) return std::nullopt;
  return begin;
}

void ArchiveFile::check_records() const {
  struct Place {
    uint64_t begin, end;
    const std::string* name;
  };
  std::set<std::string> names;
  std::vector<Place> places;
  for (const nnapi_shim::ZipRecord& record : records_) {
    if (!names.insert(record.name).second) {
      throw ConvertError(ExitCode::kBadFile, fmt::format("two entries named {} found", record.name));
    }
    const auto begin = data_begin(record);
    places.push_back({record.offset, begin ? *begin + record.bytes : record.offset + 1, &record.name});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].begin >= places[i - 1].end) continue;
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("entries {} and {} overlap", *places[i - 1].name, *places[i].name));
  }
}

}  // namespace nnapi_convert
