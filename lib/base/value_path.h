// SPDX-License-Identifier: BSD-3-Clause
// Names a value within an argument of forward: features["low"][0], state.hidden. A path is a list of steps, each of
// which may hold any character; --input and messages have it as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nnapi_convert {

struct ValuePath {
  struct Step {
    std::string name;       // an index or key; the field of a NamedTuple
    bool is_field = false;  // written ".name", not "[name]"
  };
  std::string argument;
  std::vector<Step> steps = {};
};

bool operator==(const ValuePath::Step& a, const ValuePath::Step& b);

// Returns the one text of the path. A key with characters that have a meaning here stands in quotation marks.
std::string to_text(const ValuePath& path);

// Returns the path that a text means; nothing for text that is no path. A key ends at the first "]", or is in quotation
// marks, where \" is a quotation mark and \\ a backslash.
std::optional<ValuePath> parse_path(const std::string& text);

// Returns the position of the "=" behind the path at the beginning of the text, outside of brackets; npos if there is
// none.
size_t end_of_path(const std::string& text);

}  // namespace nnapi_convert
