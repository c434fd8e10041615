// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "lib/base/error.h"
#include "lib/base/output_file.h"
#include "lib/base/watched_run.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

void flush_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_write(path, std::strerror(errno));
  const int result = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  if (result != 0 && error != EINVAL) fail_to_write(path, std::strerror(error));
}

// Takes the file's content out of the system's cache of files. A new file's pages take the place of those of the file
// that it replaces: Linux gives away first what was freed last, and a virtual machine needs up to five times as long
// for memory that it has not used lately.
void leave_file_cache(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

// Writes a text to `path`; error messages name `shown`.
void write_text(const fs::path& path, const std::string& text, const fs::path& shown) {
  OutputFile output(path);
  output.append(text.data(), text.size());
  const std::string reason = output.finish();
  if (!reason.empty()) fail_to_write(shown, reason);
}

// Returns a name that no folder has yet: it holds 64 random bits.
std::string new_folder_name() {
  std::random_device random;
  return fmt::format(".nnapi-convert-{:08x}{:08x}", random(), random());
}

}  // namespace

void fail_to_write(const fs::path& path, const std::string& reason) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't write {}: {}", path.string(), reason));
}

fs::path resolved(fs::path destination) {
  constexpr int kMaxLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(destination, error); ++i) {
    destination = destination.parent_path() / fs::read_symlink(destination, error);
  }
  const fs::path absolute = fs::absolute(destination, error);  // weakly_canonical would keep a new name relative
  if (error) return destination;
  fs::path whole = fs::weakly_canonical(absolute, error);
  return error ? absolute : whole;
}

StagingFolder::StagingFolder(const fs::path& destination, const fs::path& shown) {
  do {
    path_ = fs::absolute(destination.parent_path() / new_folder_name());
    tell_folder(path_);  // before it is there: a signal may end the process at any instruction
    if (::mkdir(path_.c_str(), S_IRWXU) == 0) return;
    const int error = errno;
    forget_folder(path_);
    errno = error;
  } while (errno == EEXIST);
  if (errno != ENOENT) fail_to_write(shown, std::strerror(errno));
  std::error_code ignored;
  const bool is_shown_missing = shown.has_parent_path() && !fs::exists(shown.parent_path(), ignored);
  const fs::path missing = is_shown_missing ? shown.parent_path() : destination.parent_path();
  fail_to_write(shown, fmt::format("there is no folder {}; make it first", missing.string()));
}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  forget_folder(path_);
}

PendingFile::PendingFile(const fs::path& destination) : destination_(resolved(destination)) {
  std::error_code ignored;
  if (destination.empty() || destination.filename().empty()) fail_to_write(destination, "not a file name");
  if (fs::exists(destination_, ignored) && !fs::is_regular_file(destination_, ignored)) {
    fail_to_write(destination, "it exists and is not a regular file");
  }
  folder_.emplace(destination_, destination);
  temporary_ = folder_->path() / destination_.filename();
  leave_file_cache(destination_);
}

void PendingFile::finish() {
  std::error_code error;
  const fs::file_status existing = fs::status(destination_, error);
  if (fs::is_regular_file(existing)) fs::permissions(temporary_, existing.permissions(), error);
  flush_to_disk(temporary_);
  is_finished_ = true;
}

void PendingFile::commit() {
  if (!is_finished_) finish();
  std::error_code error;
  fs::rename(temporary_, destination_, error);
  if (error) fail_to_write(destination_, error.message());
}

void write_file(const fs::path& destination, const std::string& text) {
  PendingFile file(destination);
  write_text(file.path(), text, destination);
  file.commit();
}

void PendingTexts::add(const fs::path& destination, const std::string& text) {
  std::error_code ignored;
  const fs::file_status status = fs::status(destination, ignored);
  if (fs::is_character_file(status) || fs::is_fifo(status)) {
    write_text(destination, text, destination);
    return;
  }
  files_.push_back(std::make_unique<PendingFile>(destination));
  write_text(files_.back()->path(), text, destination);
  files_.back()->finish();
}

void PendingTexts::commit() {
  for (const auto& file : files_) file->commit();
}

}  // namespace nnapi_convert
