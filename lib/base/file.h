// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace nnapi_convert {

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
  // Gives the file the permissions of an existing destination, flushes to disk and renames. Throws ConvertError
  // (kBadFile).
  void commit();

 private:
  std::filesystem::path destination_;
  std::filesystem::path folder_;
  std::filesystem::path temporary_;
};

// Writes text whole or not at all. Throws ConvertError (kBadFile).
void write_file(const std::filesystem::path& destination, const std::string& text);

}  // namespace nnapi_convert
