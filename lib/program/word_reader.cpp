// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/word_reader.h"

#include <cstdarg>
#include <cstdio>

namespace nnapi_shim::program {

bool WordReader::damaged(const char* format, ...) {
  char problem[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(problem, sizeof problem, format, arguments);
  va_end(arguments);
  std::snprintf(error_, error_bytes_, "damaged program at word %zu: %s; copy or convert the model again", at_, problem);
  return false;
}

bool WordReader::word(uint32_t* value, const char* what) {
  if (at_ >= count()) return damaged("%s is behind the end", what);
  *value = words_[at_++];
  return true;
}

bool WordReader::number(uint32_t* value, size_t below, const char* what) {
  if (!word(value, what)) return false;
  if (*value < below) return true;
  --at_;
  return damaged("%s %u found, below %zu needed", what, *value, below);
}

bool WordReader::entries(uint32_t* value, size_t words_each, const char* what) {
  if (!word(value, what)) return false;
  if (*value <= left() / words_each) return true;
  --at_;
  return damaged("%u %s don't fit into the words", *value, what);
}

bool WordReader::wide(uint64_t* value, const char* what) {
  uint32_t low = 0, high = 0;
  if (!word(&low, what) || !word(&high, what)) return false;
  *value = low | uint64_t{high} << 32;
  return true;
}

}  // namespace nnapi_shim::program
