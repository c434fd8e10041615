// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/json_text.h"

#include <cmath>
#include <cstdio>

#include "lib/format/utf8.h"

namespace nnapi_doctor {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = at + text.size();
  while (at < end) {
    const size_t bytes = nnapi_convert::sign_bytes(at, end);
    if (bytes == 0) {
      result += '?';
    } else if (*at == '"' || *at == '\\') {
      result += {'\\', static_cast<char>(*at)};
    } else if (*at < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(*at));
      result += code;
    } else {
      result.append(reinterpret_cast<const char*>(at), bytes);
    }
    at += bytes > 0 ? bytes : 1;
  }
  return result + "\"";
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string number_text(double number) {
  if (!std::isfinite(number)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

JsonObject& JsonObject::add(const char* key, const std::string& json) {
  members_.push_back(quoted(key) + ": " + json);
  return *this;
}

}  // namespace nnapi_doctor
