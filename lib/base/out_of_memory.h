// SPDX-License-Identifier: BSD-3-Clause
// Recognises errors that say that memory is full: libraries throw them as errors of many classes.
#pragma once

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string_view>

namespace nnapi_convert {

inline bool tells_of_full_memory(std::string_view message) {
  // Parts of messages of LibTorch, of the system, of C++, and of glibc's loader of libraries.
  constexpr std::string_view kSentences[] = {"can't allocate memory",
                                             "Cannot allocate memory",
                                             "std::bad_alloc",
                                             "not enough memory",
                                             "failed to map segment",
                                             "cannot map zero-fill pages",
                                             "cannot allocate version reference table"};
  return std::any_of(std::begin(kSentences), std::end(kSentences),
                     [&](std::string_view sentence) { return message.find(sentence) != std::string_view::npos; });
}

// Throws std::bad_alloc if the error says that memory is full. Call it before the error is reported as something else,
// such as a file that can't be read.
inline void rethrow_if_memory_is_full(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr || tells_of_full_memory(error.what())) {
    throw std::bad_alloc();
  }
}

}  // namespace nnapi_convert
