// SPDX-License-Identifier: BSD-3-Clause
// Reads a model buffer from any source word by word, and never past its end.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "lib/base/error.h"

namespace nnapi_convert {

class WordCursor {
 public:
  WordCursor(const int32_t* words, size_t count) : words_(words), count_(count) {}

  size_t position() const { return position_; }
  size_t count() const { return count_; }

  // Throws ConvertError (kBadFile) with the position.
  [[noreturn]] void fail(const std::string& problem) const {
    throw ConvertError(ExitCode::kBadFile, fmt::format("malformed model buffer at word {}: {}", position_, problem));
  }

  // Fails unless at least `needed` words are left.
  void require(uint64_t needed, const char* what) const {
    if (needed > count_ - position_)
      fail(fmt::format("{}: {} words left, {} needed", what, count_ - position_, needed));
  }

  int32_t next(const char* what) {
    require(1, what);
    return words_[position_++];
  }

  float next_float(const char* what) {
    const int32_t bits = next(what);
    float value;
    static_assert(sizeof value == sizeof bits);
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  // Skips `words` words and returns their address.
  const int32_t* take(uint64_t words, const char* what) {
    require(words, what);
    const int32_t* taken = words_ + position_;
    position_ += words;
    return taken;
  }

 private:
  const int32_t* words_;
  size_t count_;
  size_t position_ = 0;
};

}  // namespace nnapi_convert
