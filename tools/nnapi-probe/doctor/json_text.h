// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON without a library: apps' toolchains build this program from the shim's emitted sources, which have no
// dependencies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_doctor {

// Returns the text as a JSON string. Bytes that are no UTF-8 become "?".
std::string quoted(const std::string& text);
std::string joined(const std::vector<std::string>& items);
// Returns the number as JSON; null for infinite numbers and NaN.
std::string number_text(double number);

// Writes an object member by member.
class JsonObject {
 public:
  JsonObject& add(const char* key, const std::string& json);
  JsonObject& text(const char* key, const std::string& value) { return add(key, quoted(value)); }
  JsonObject& number(const char* key, double value) { return add(key, number_text(value)); }
  JsonObject& flag(const char* key, bool value) { return add(key, value ? "true" : "false"); }
  std::string close() const { return "{" + joined(members_) + "}"; }

 private:
  std::vector<std::string> members_;
};

}  // namespace nnapi_doctor
