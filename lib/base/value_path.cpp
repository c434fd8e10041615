// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/value_path.h"

#include <algorithm>

namespace nnapi_convert {
namespace {

bool is_plain(const std::string& key) {
  return !key.empty() && std::none_of(key.begin(), key.end(), [](char letter) {
    return (letter >= '\0' && letter < ' ') || std::string("[]{}=\"\\").find(letter) != std::string::npos;
  });
}

std::string quoted_key(const std::string& key) {
  std::string text = "\"";
  for (const char letter : key) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter;
  }
  return text + '"';
}

// Reads the key behind a "[". Returns the position behind the "]"; npos if there is none.
size_t read_key(const std::string& text, size_t begin, std::string& key) {
  if (begin < text.size() && text[begin] != '"') {
    const size_t end = text.find(']', begin);
    if (end == std::string::npos) return end;
    key = text.substr(begin, end - begin);
    return end + 1;
  }
  for (size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1 < text.size() && text[at + 1] == ']' ? at + 2 : std::string::npos;
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    key += text[at];
  }
  return std::string::npos;
}

}  // namespace

bool operator==(const ValuePath::Step& a, const ValuePath::Step& b) {
  return a.name == b.name && a.is_field == b.is_field;
}

std::string to_text(const ValuePath& path) {
  std::string text = path.argument;
  for (const ValuePath::Step& step : path.steps) {
    const std::string key = step.is_field || is_plain(step.name) ? step.name : quoted_key(step.name);
    text += step.is_field ? "." + key : "[" + key + "]";
  }
  return text;
}

std::optional<ValuePath> parse_path(const std::string& text) {
  ValuePath path;
  size_t at = std::min(text.find_first_of("[."), text.size());
  path.argument = text.substr(0, at);
  if (path.argument.empty()) return std::nullopt;
  while (at < text.size()) {
    ValuePath::Step step;
    step.is_field = text[at] == '.';
    if (step.is_field) {
      const size_t end = std::min(text.find_first_of("[.", at + 1), text.size());
      step.name = text.substr(at + 1, end - at - 1);
      at = end;
    } else if (text[at] == '[') {
      at = read_key(text, at + 1, step.name);
    } else {
      at = std::string::npos;
    }
    if (at == std::string::npos || (step.is_field && step.name.empty())) return std::nullopt;
    path.steps.push_back(std::move(step));
  }
  return path;
}

size_t end_of_path(const std::string& text) {
  size_t at = text.find_first_of("[=");
  while (at != std::string::npos && text[at] == '[') {
    std::string ignored;
    at = read_key(text, at + 1, ignored);
    if (at != std::string::npos) at = text.find_first_of("[=", at);
  }
  return at == std::string::npos ? text.find('=') : at;
}

}  // namespace nnapi_convert
