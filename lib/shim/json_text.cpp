#include "lib/shim/json_text.h"

#include <cstring>

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
    const char letter = *at_++;
    if (letter == '"') return true;
    if (letter == '\\') {
      if (!escape(value)) return false;
    } else {
      *value += letter;
      if (static_cast<unsigned char>(letter) >= 0x80 && !wide_sign(value)) return false;
    }
  }
  return false;
}

// Reads the rest of a sign outside of ASCII, whose first byte `value` has. False for what is no UTF-8.
bool JsonText::wide_sign(std::string* value) {
  const auto first = static_cast<unsigned char>(value->back());
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || end_ - at_ < more) return false;
  const auto second = static_cast<unsigned char>(*at_);
  // Signs in more bytes than needed, halves of surrogate pairs, and numbers above the highest sign.
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return false;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return false;
  for (int i = 0; i < more; ++i) {
    if ((static_cast<unsigned char>(*at_) & 0xC0) != 0x80) return false;
    *value += *at_++;
  }
  return true;
}

// Reads what follows a backslash.
bool JsonText::escape(std::string* value) {
  constexpr const char* kSigns = "\"\\/bfnrt";
  constexpr const char* kMeanings = "\"\\/\b\f\n\r\t";
  if (at_ == end_ || *at_ == '\0') return false;
  const char sign = *at_++;
  if (const char* found = std::strchr(kSigns, sign)) {
    *value += kMeanings[found - kSigns];
    return true;
  }
  // Signs outside of ASCII have to be written as they are, in UTF-8.
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
