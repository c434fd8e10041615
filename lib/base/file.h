// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace nnapi_convert {

// The absolute path of what is written where `destination` is said. Follows symbolic links, dangling ones too, so that
// the file they name is written and not the link replaced.
std::filesystem::path resolved(std::filesystem::path destination);

// Throws ConvertError (kBadFile): "can't write PATH: REASON".
[[noreturn]] void fail_to_write(const std::filesystem::path& path, const std::string& reason);

// A place to write a file beside its destination, under its final name (archives take their root folder from it), in a
// temporary folder. commit() renames it into place; without commit() the destructor removes it and an existing
// destination stays as it was.
class PendingFile {
 public:
  // Throws ConvertError (kBadFile) when the destination's folder can't be written or the destination is not a regular
  // file.
  explicit PendingFile(const std::filesystem::path& destination);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return temporary_; }
  // Gives the file the permissions of an existing destination and flushes it to disk: what may fail for want of room
  // fails here. Throws ConvertError (kBadFile).
  void finish();
  // Finishes, if that was not done, and renames. Throws ConvertError (kBadFile).
  void commit();

 private:
  std::filesystem::path destination_;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  bool is_finished_ = false;
};

// Writes text whole or not at all. Throws ConvertError (kBadFile).
void write_file(const std::filesystem::path& destination, const std::string& text);

// Texts that take their places together with other files.
class PendingTexts {
 public:
  // Writes beside the destination; to a device or a pipe at once. Throws ConvertError (kBadFile).
  void add(const std::filesystem::path& destination, const std::string& text);
  void commit();

 private:
  std::vector<std::unique_ptr<PendingFile>> files_;
};

}  // namespace nnapi_convert
