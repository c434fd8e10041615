// SPDX-License-Identifier: BSD-3-Clause
// Writes lists of names within messages.
#include "lib/shim/name_list.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace nnapi_shim {

void NameList::add(const char* format, ...) {
  ++count_;
  if (left_out_ > 0) {
    ++left_out_;
    return;
  }
  const int separator = used_ > 0 ? 2 : 0;
  va_list arguments;
  va_start(arguments, format);
  char item[kBytes];
  const int length = std::vsnprintf(item, sizeof(item), format, arguments);
  va_end(arguments);
  if (length < 0 || used_ + separator + length >= kBytes) {
    ++left_out_;
    return;
  }
  std::memcpy(text_ + used_, ", ", static_cast<size_t>(separator));
  std::memcpy(text_ + used_ + separator, item, static_cast<size_t>(length) + 1);
  used_ += separator + length;
}

const char* NameList::text() {
  if (left_out_ > 0) {
    std::snprintf(text_ + used_, sizeof(text_) - static_cast<size_t>(used_), "%s%d %s", used_ > 0 ? " and " : "",
                  left_out_, used_ > 0 ? "more" : "with long names");
  }
  return text_;
}

}  // namespace nnapi_shim
