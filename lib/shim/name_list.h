// SPDX-License-Identifier: BSD-3-Clause
// Writes a list of names for a message.
#pragma once

namespace nnapi_shim {

// A list of names in one text: ", " separates the names; the end of the text counts the names that do not fit.
class NameList {
 public:
  void add(const char* format, ...) __attribute__((format(printf, 2, 3)));
  // Ends the list and returns its text.
  const char* text();
  int count() const { return count_; }

 private:
  static constexpr int kBytes = 300;
  char text_[kBytes + 40] = "";
  int used_ = 0, count_ = 0, left_out_ = 0;
};

}  // namespace nnapi_shim
