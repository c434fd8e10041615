// SPDX-License-Identifier: BSD-3-Clause
// Writes a file from its beginning to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nnapi_convert {

// The constructor makes or empties the file. After the first error nothing more is written; finish() returns the error.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  // Writes to an open file and closes it; -1 and `errno` for a file that could not be opened.
  explicit OutputFile(int descriptor);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Preallocates `bytes` on the disk, which is faster than growing the file write by write; finish() truncates the part
  // that was not written. Does nothing where the system can't.
  void reserve(uint64_t bytes);
  void append(const void* data, size_t size);
  // Closes the file. Returns the system's reason if some data were not written, otherwise an empty text.
  std::string finish();

 private:
  void note_error(ptrdiff_t result);

  int error_ = 0;
  uint64_t written_ = 0, reserved_ = 0;
  int descriptor_;
};

}  // namespace nnapi_convert
