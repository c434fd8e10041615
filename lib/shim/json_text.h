// SPDX-License-Identifier: BSD-3-Clause
// Reads JSON that comes from outside: a strict reader without a tree. Its callers say what they expect; the first thing
// that differs ends the reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nnapi_shim {

class JsonText {
 public:
  JsonText(const char* text, size_t bytes) : begin_(text), at_(text), end_(text + bytes) {}

  // Each returns whether the text goes on with such a part, and moves behind it.
  bool take(char sign);
  bool string(std::string* value);  // resolves escapes; refuses U+0000
  bool integer(uint64_t* value);    // not negative, at most 18 digits
  bool at_end();

  // Read a list or an object, and call `each` at each element or member, which reads it and returns whether it could.
  template <typename Each>
  bool list(const Each& each) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!each()) return false;
    } while (take(','));
    return take(']');
  }
  template <typename Each>
  bool object(const Each& each) {
    if (!take('{')) return false;
    if (take('}')) return true;
    std::string key;
    do {
      if (!string(&key) || !take(':') || !each(key.c_str())) return false;
    } while (take(','));
    return take('}');
  }

  size_t offset() const { return static_cast<size_t>(at_ - begin_); }

 private:
  void skip_space();
  bool escape(std::string* value);

  const char* const begin_;
  const char* at_;
  const char* const end_;
};

}  // namespace nnapi_shim
