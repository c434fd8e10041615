// SPDX-License-Identifier: BSD-3-Clause
// Reports refusals: a Failure carries the code that the C function returns and the sentence that it prints. Code inside
// the library throws it; the guard of the C interface (guard.h) turns it into the code and the sentence.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert::host {

class Failure : public std::exception {
 public:
  Failure(ResultCode code, std::string sentence) : code_(code), sentence_(std::move(sentence)) {}
  ResultCode code() const { return code_; }
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  ResultCode code_;
  std::string sentence_;
};

template <typename... Args>
[[noreturn]] void fail(ResultCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(code, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void bad_data(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure(ResultCode::BAD_DATA, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace nnapi_convert::host
