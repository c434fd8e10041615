// SPDX-License-Identifier: BSD-3-Clause
// Compares names and versions of NNAPI drivers with those of driver rules (schemas/driver_rules.schema.json).
#pragma once

#include <cstddef>
#include <cstring>

namespace nnapi_convert {

// Returns whether the whole text fits the pattern, in which "*" stands for any text, also an empty one.
inline bool fits_pattern(const char* text, const char* pattern) {
  const char* star = nullptr;  // the last "*" passed, and where the text that it stands for ends
  const char* after_star = nullptr;
  while (*text != '\0') {
    if (*pattern == '*') {
      star = pattern++;
      after_star = text;
    } else if (*pattern == *text) {
      ++pattern;
      ++text;
    } else if (star != nullptr) {
      pattern = star + 1;
      text = ++after_star;
    } else {
      return false;
    }
  }
  while (*pattern == '*') ++pattern;
  return *pattern == '\0';
}

// Returns the number of digits of the number at `text`, after zeros at its beginning, which are skipped.
inline std::size_t count_digits(const char*& text) {
  while (*text == '0') ++text;
  return std::strspn(text, "0123456789");
}

// Returns a negative number, 0 or a positive one: whether version `a` comes before `b`, is `b`, or comes after it.
// Digits in a row are compared as one number, everything else byte by byte.
inline int compare_versions(const char* a, const char* b) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  while (*a != '\0' && *b != '\0') {
    std::size_t length = 1;
    if (is_digit(*a) && is_digit(*b)) {
      length = count_digits(a);
      const std::size_t other = count_digits(b);
      if (length != other) return length < other ? -1 : 1;
    }
    if (const int order = std::memcmp(a, b, length)) return order;
    a += length;
    b += length;
  }
  return (*a != '\0' ? 1 : 0) - (*b != '\0' ? 1 : 0);
}

}  // namespace nnapi_convert
