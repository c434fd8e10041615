// SPDX-License-Identifier: BSD-3-Clause
// Reads the words of a program from the first to the last, and keeps the first problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nnapi_shim::program {

// The functions return false after writing one sentence to `error`.
class WordReader {
 public:
  WordReader(const std::vector<uint32_t>& words, char* error, size_t error_bytes)
      : words_(words), error_(error), error_bytes_(error_bytes) {}

  size_t at() const { return at_; }
  void skip_to(size_t word) { at_ = word; }
  size_t count() const { return words_.size(); }
  size_t left() const { return words_.size() - at_; }

  [[gnu::format(printf, 2, 3)]] bool damaged(const char* format, ...);
  // Reads the next word; `what` names it in the sentence.
  bool word(uint32_t* value, const char* what);
  // Reads a number below `below`.
  bool number(uint32_t* value, size_t below, const char* what);
  // Reads the number of entries, each of which has at least `words_each` words.
  bool entries(uint32_t* value, size_t words_each, const char* what);
  // Reads 64 bits, the low word first.
  bool wide(uint64_t* value, const char* what);

 private:
  const std::vector<uint32_t>& words_;
  char* const error_;
  const size_t error_bytes_;
  size_t at_ = 0;
};

}  // namespace nnapi_shim::program
