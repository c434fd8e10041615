#include "lib/converter/archive/archive_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace nnapi_convert
