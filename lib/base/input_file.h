// SPDX-License-Identifier: BSD-3-Clause
// Opens files for reading. Only regular files are read: a pipe lets its reader wait for a writer, and a device may have
// no end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace nnapi_convert {

// A regular file that is open for reading. The destructor closes it.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Returns why the file can't be read; empty if it can.
  const std::string& problem() const { return problem_; }
  // Returns the file's size when it was opened.
  uint64_t bytes() const { return bytes_; }
  // Reads up to `size` bytes, and returns how many; 0 at the end, and with a problem where the system can't read on.
  size_t read(void* to, size_t size);

 private:
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
  std::string problem_;
};

// Returns the file's content; nothing if it can't be read, with the reason in `problem`.
std::optional<std::string> text_of_file(const std::filesystem::path& path, std::string& problem);

// Returns why the library that `path` names can't be loaded; empty for a regular file, for a file that does not exist,
// and for a name without a folder, which the system's loader looks for.
std::string problem_of_library(const std::string& path);

}  // namespace nnapi_convert
