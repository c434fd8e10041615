// SPDX-License-Identifier: BSD-3-Clause
// Finds the name that a misspelt name probably stands for.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

// Returns the name that needs the fewest changes to become `word`, if they are few for its length, else an empty text.
// A change adds, removes or replaces a letter, or exchanges two neighbours. A name that begins with `word` is near,
// too.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

}  // namespace nnapi_convert
