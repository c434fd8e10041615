// SPDX-License-Identifier: BSD-3-Clause
// Reads the JSON of an exported program: every access is checked, because the file may be of any kind.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace nnapi_convert {

// Parses JSON. Throws DamagedFile for a text that is no JSON, and ConvertError (kBadFile) for one that is nested too
// deep. Takes the bare Infinity, -Infinity and NaN that PyTorch 2.6 writes.
nlohmann::json parse_export(std::string_view text);

// Throw ConvertError (kBadFile) where the value is of another kind or is not there.
const nlohmann::json& member(const nlohmann::json& object, const char* key);
std::string text_member(const nlohmann::json& object, const char* key);
std::string text_of(const nlohmann::json& value);
int64_t integer_of(const nlohmann::json& value);
bool bool_of(const nlohmann::json& value);
double real_of(const nlohmann::json& value);  // a number, or "Infinity", "-Infinity", "NaN"
const nlohmann::json& list_of(const nlohmann::json& value);
const nlohmann::json& object_of(const nlohmann::json& value);

// Returns the member of this key; null if the object has none, or if it is null.
const nlohmann::json* find_member(const nlohmann::json& object, const char* key);

// A union: an object with one key that tells the kind.
struct TaggedJson {
  std::string kind;
  const nlohmann::json* value;
};
TaggedJson tagged(const nlohmann::json& value);

[[noreturn]] void fail_export(const std::string& what);

}  // namespace nnapi_convert
