// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/export_json.h"

#include <fmt/format.h>

#include <limits>

#include "lib/base/begins_with.h"
#include "lib/base/damaged_file.h"
#include "lib/base/error.h"
#include "lib/format/json_nesting.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

// Returns the text with Infinity, -Infinity and NaN, which JSON lacks, in quotes.
std::string with_quoted_numbers(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool is_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_string && letter == '\\' && i + 1 < text.size()) {
      result += letter;
      result += text[++i];
      continue;
    }
    if (letter == '"') is_string = !is_string;
    size_t length = 0;
    for (const std::string_view number : {"-Infinity", "Infinity", "NaN"}) {
      if (!is_string && length == 0 && begins_with(text.substr(i), number)) length = number.size();
    }
    if (length == 0) {
      result += letter;
      continue;
    }
    result.append("\"").append(text.substr(i, length)).append("\"");
    i += length - 1;
  }
  return result;
}

// Returns the value as a short text for a message.
std::string shown(const json& value) {
  constexpr size_t kMostShown = 60;
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() > kMostShown ? text.substr(0, kMostShown) + "..." : text;
}

}  // namespace

void fail_export(const std::string& what) {
  throw ConvertError(ExitCode::kBadFile, what);
}

json parse_export(std::string_view text) {
  if (is_nested_too_deep(text)) fail_export(fmt::format("JSON of more than {} levels found", kMostNestedJson));
  json value = json::parse(with_quoted_numbers(text), nullptr, false);
  if (value.is_discarded()) throw DamagedFile("text found that is no JSON");
  return value;
}

const json* find_member(const json& object, const char* key) {
  const auto found = object_of(object).find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const json& member(const json& object, const char* key) {
  const json* found = find_member(object, key);
  if (found == nullptr) fail_export(fmt::format("\"{}\" is missing in {}", key, shown(object)));
  return *found;
}

std::string text_of(const json& value) {
  if (!value.is_string()) fail_export(fmt::format("{} found, a string needed", shown(value)));
  return value.get<std::string>();
}

std::string text_member(const json& object, const char* key) {
  return text_of(member(object, key));
}

int64_t integer_of(const json& value) {
  const bool is_large =
      value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()};
  if (!value.is_number_integer() || is_large) fail_export(fmt::format("{} found, an integer needed", shown(value)));
  return value.get<int64_t>();
}

bool bool_of(const json& value) {
  if (!value.is_boolean()) fail_export(fmt::format("{} found, true or false needed", shown(value)));
  return value.get<bool>();
}

double real_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  fail_export(fmt::format("{} found, a number needed", shown(value)));
}

const json& list_of(const json& value) {
  if (!value.is_array()) fail_export(fmt::format("{} found, a list needed", shown(value)));
  return value;
}

const json& object_of(const json& value) {
  if (!value.is_object()) fail_export(fmt::format("{} found, an object needed", shown(value)));
  return value;
}

TaggedJson tagged(const json& value) {
  const json* found = nullptr;
  std::string kind;
  for (const auto& [key, each] : object_of(value).items()) {
    if (value.size() > 1 && each.is_null()) continue;
    if (found != nullptr) fail_export(fmt::format("two kinds found in {}, one needed", shown(value)));
    found = &each;
    kind = key;
  }
  if (found == nullptr) fail_export(fmt::format("no kind found in {}", shown(value)));
  return {kind, found};
}

}  // namespace nnapi_convert
