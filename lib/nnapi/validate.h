// Checks a model by NNAPI's own rules at one feature level, which it reads from the operations table.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Returns one sentence per violation, with the operation's number and name, the argument, the value found and the value
// needed. Empty for a valid model.
std::vector<std::string> validate(const Model& model, int feature_level);

// Returns the lowest feature level that allows every operation of a valid model; at least 1.
int required_feature_level(const Model& model);

}  // namespace nnapi_convert::nnapi
