// What a misspelt name was probably meant to be.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

// The name that takes the fewest changes to become `word`, where those are few for its length: a letter more, less or
// another, or two neighbours exchanged. A name that `word` begins is near, too. Empty where none is near.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

}  // namespace nnapi_convert
