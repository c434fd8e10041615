// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim_java/java_text.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/format/utf8.h"

namespace nnapi_shim {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

bool is_high_half(uint32_t unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}

bool is_low_half(uint32_t unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

// Reads the character at `at`, and moves behind it. A byte that begins no valid UTF-8 counts as a character, U+FFFD.
uint32_t read_sign(const uint8_t*& at, const uint8_t* end) {
  const size_t bytes = nnapi_convert::sign_bytes(at, end);
  const uint32_t first = *at++;
  if (bytes < 2) return bytes == 1 ? first : kReplacement;
  uint32_t sign = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) sign = sign << 6 | (*at++ & 0x3fu);
  return sign;
}

void append_utf16(std::vector<jchar>& to, uint32_t sign) {
  if (sign < 0x10000) {
    to.push_back(static_cast<jchar>(sign));
    return;
  }
  to.push_back(static_cast<jchar>(0xd800 + ((sign - 0x10000) >> 10)));
  to.push_back(static_cast<jchar>(0xdc00 + (sign & 0x3ff)));
}

void append_utf8(std::string& to, uint32_t sign) {
  const auto tail = [sign](int shift) { return static_cast<char>(0x80 | (sign >> shift & 0x3f)); };
  if (sign != 0 && sign < 0x80) {
    to += static_cast<char>(sign);
  } else if (sign < 0x800) {
    to += {static_cast<char>(0xc0 | sign >> 6), tail(0)};
  } else if (sign < 0x10000) {
    to += {static_cast<char>(0xe0 | sign >> 12), tail(6), tail(0)};
  } else {
    to += {static_cast<char>(0xf0 | sign >> 18), tail(12), tail(6), tail(0)};
  }
}

}  // namespace

jstring to_java(JNIEnv* env, const char* text) {
  std::vector<jchar> units;
  const size_t length = std::strlen(text);
  units.reserve(length + 1);  // data() of an empty vector may be null
  const auto* at = reinterpret_cast<const uint8_t*>(text);
  for (const uint8_t* end = at + length; at != end;) append_utf16(units, read_sign(at, end));
  return env->NewString(units.data(), static_cast<jsize>(units.size()));
}

Text::Text(JNIEnv* env, jstring text) : is_null_(text == nullptr) {
  if (text == nullptr) return;
  std::vector<jchar> units(static_cast<size_t>(env->GetStringLength(text)) + 1);  // the last one is 0
  env->GetStringRegion(text, 0, static_cast<jsize>(units.size() - 1), units.data());
  has_failed_ = env->ExceptionCheck() != JNI_FALSE;
  for (size_t i = 0; i + 1 < units.size(); ++i) {
    uint32_t sign = units[i];
    if (is_high_half(sign) && is_low_half(units[i + 1])) {
      sign = 0x10000 + ((sign - 0xd800) << 10) + (units[++i] - 0xdc00u);
    } else if (is_high_half(sign) || is_low_half(sign)) {
      sign = kReplacement;
    }
    append_utf8(text_, sign);
  }
}

}  // namespace nnapi_shim
