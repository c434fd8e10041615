// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/json_text.h"

#include <cstring>

#include "lib/format/utf8.h"

namespace nnapi_shim {

void JsonText::skip_space() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool JsonText::take(char sign) {
  skip_space();
  if (at_ == end_ || *at_ != sign) return false;
  ++at_;
  return true;
}

bool JsonText::at_end() {
  skip_space();
  return at_ == end_;
}

bool JsonText::string(std::string* value) {
  value->clear();
  if (!take('"')) return false;
  while (at_ != end_ && static_cast<unsigned char>(*at_) >= ' ') {
    const size_t bytes =
        nnapi_convert::sign_bytes(reinterpret_cast<const uint8_t*>(at_), reinterpret_cast<const uint8_t*>(end_));
    if (bytes == 0) return false;
    const char* sign = at_;
    at_ += bytes;
    if (*sign == '"') return true;
    if (*sign != '\\') {
      value->append(sign, bytes);
    } else if (!escape(value)) {
      return false;
    }
  }
  return false;
}

// Reads the escape after a backslash.
bool JsonText::escape(std::string* value) {
  constexpr const char* kSigns = "\"\\/bfnrt";
  constexpr const char* kMeanings = "\"\\/\b\f\n\r\t";
  if (at_ == end_ || *at_ == '\0') return false;
  const char sign = *at_++;
  if (const char* found = std::strchr(kSigns, sign)) {
    *value += kMeanings[found - kSigns];
    return true;
  }
  // Characters outside of ASCII have to be written in UTF-8, not as escapes.
  if (sign != 'u' || end_ - at_ < 4 || at_[0] != '0' || at_[1] != '0' || at_[2] < '0' || at_[2] > '7') return false;
  constexpr const char* kDigits = "0123456789abcdefABCDEF";
  const char* found = std::strchr(kDigits, at_[3]);
  if (!found || *found == '\0') return false;
  const auto digit = found - kDigits;
  const auto code = (at_[2] - '0') * 16 + (digit < 16 ? digit : digit - 6);
  if (code == 0) return false;
  *value += static_cast<char>(code);
  at_ += 4;
  return true;
}

bool JsonText::integer(uint64_t* value) {
  constexpr int kMostDigits = 18;
  skip_space();
  const char* first = at_;
  *value = 0;
  while (at_ != end_ && *at_ >= '0' && *at_ <= '9' && at_ - first <= kMostDigits) {
    *value = *value * 10 + static_cast<uint64_t>(*at_++ - '0');
  }
  return at_ != first && at_ - first <= kMostDigits;
}

}  // namespace nnapi_shim
