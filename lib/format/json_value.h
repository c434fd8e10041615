// SPDX-License-Identifier: BSD-3-Clause
// Reads values of a JSON text with the path to them, so that each error names its place, the value found, and the value
// needed: "profile.json.refuses[0].types.input: 3 found, a list needed".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/format/json_nesting.h"

namespace nnapi_convert {

// The error for a text that is no JSON, or not of the form that is needed. `what()` is one line, lower case and without
// a full stop.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parses a text. Errors name it as `what`.
inline nlohmann::json parsed_json(const std::string& text, const std::string& what) {
  if (is_nested_too_deep(text)) {
    throw JsonError(what + ": lists or objects more than " + std::to_string(kMostNestedJson) + " deep found");
  }
  nlohmann::json source = nlohmann::json::parse(text, nullptr, false);
  if (source.is_discarded()) throw JsonError(what + ": not JSON");
  return source;
}

// Refers to a parsed text, which has to outlive it. All functions throw JsonError for a value of another kind.
struct JsonValue {
  const nlohmann::json& value;
  std::string path;

  [[noreturn]] void fail(const std::string& needed) const {
    throw JsonError(path + ": " + value.dump() + " found, " + needed + " needed");
  }
  [[noreturn]] void fail_without(const std::string& key) const {
    throw JsonError(path + ": key \"" + key + "\" needed");
  }
  std::vector<JsonValue> elements(bool may_be_empty) const {
    if (!value.is_array() || (value.empty() && !may_be_empty)) fail("a list");
    std::vector<JsonValue> result;
    for (std::size_t i = 0; i < value.size(); ++i) result.push_back({value[i], path + "[" + std::to_string(i) + "]"});
    return result;
  }
  std::vector<std::pair<std::string, JsonValue>> members() const {
    if (!value.is_object()) fail("an object");
    std::vector<std::pair<std::string, JsonValue>> result;
    for (const auto& [key, member] : value.items()) result.push_back({key, {member, path + "." + key}});
    return result;
  }
  std::string text() const {
    if (!value.is_string()) fail("a text");
    return value.get<std::string>();
  }
  int64_t integer() const {
    if (!value.is_number_integer()) fail("an integer");
    return value.get<int64_t>();
  }
  bool flag() const {
    if (!value.is_boolean()) fail("true or false");
    return value.get<bool>();
  }
  // Returns the results of read() for each element or member, as a set.
  template <typename Read>
  auto set_of(const Read& read) const {
    std::set<decltype(read(*this))> result;
    for (const JsonValue& element : elements(false)) result.insert(read(element));
    return result;
  }
  template <typename Read>
  auto map_of(const Read& read) const {
    std::map<std::string, decltype(read(*this))> result;
    for (const auto& [name, member] : members()) result[name] = read(member);
    return result;
  }
};

}  // namespace nnapi_convert
