// SPDX-License-Identifier: BSD-3-Clause
// Writes files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

// Returns the absolute path of the file to write for `destination`. Follows symbolic links, also dangling ones, so that
// the program writes the link's target and does not replace the link.
std::filesystem::path resolved(std::filesystem::path destination);

// Throws ConvertError (kBadFile): "can't write PATH: REASON".
[[noreturn]] void fail_to_write(const std::filesystem::path& path, const std::string& reason);

// An empty folder beside `destination`, in which the destination's files are made. The destructor removes it with all
// that is left in it.
class StagingFolder {
 public:
  // Throws ConvertError (kBadFile), which names `shown`, if the destination's folder can't be written.
  StagingFolder(const std::filesystem::path& destination, const std::filesystem::path& shown);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Gives a file a path in a temporary folder beside its destination, under its final name (archives take their root
// folder from it). commit() renames the file into place. Without commit() the destructor removes the file, and an
// existing destination stays as it was, out of the system's cache of files.
class PendingFile {
 public:
  // Throws ConvertError (kBadFile) if the destination's folder can't be written or the destination is not a regular
  // file.
  explicit PendingFile(const std::filesystem::path& destination);

  const std::filesystem::path& path() const { return temporary_; }
  // Gives the file the permissions of an existing destination and flushes it to disk, so that a full disk shows here
  // and not in commit(). Throws ConvertError (kBadFile).
  void finish();
  // Calls finish() if the caller did not, and renames the file. Throws ConvertError (kBadFile).
  void commit();

 private:
  std::filesystem::path destination_;
  std::optional<StagingFolder> folder_;
  std::filesystem::path temporary_;
  bool is_finished_ = false;
};

// Writes text whole or not at all. Throws ConvertError (kBadFile).
void write_file(const std::filesystem::path& destination, const std::string& text);

// Text files that commit() renames into place at once, together with other files.
class PendingTexts {
 public:
  // Writes a text beside its destination; writes directly to a device or pipe. Throws ConvertError (kBadFile).
  void add(const std::filesystem::path& destination, const std::string& text);
  void commit();

 private:
  std::vector<std::unique_ptr<PendingFile>> files_;
};

}  // namespace nnapi_convert
