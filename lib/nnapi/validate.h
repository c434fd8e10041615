// NNAPI's own rules at one feature level, read from the operations table.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// One sentence per violation, with operation number, name, argument, found and needed; empty for a valid model.
std::vector<std::string> validate(const Model& model, int feature_level);

// The lowest feature level that allows every operation of a valid model; at least 1.
int required_feature_level(const Model& model);

}  // namespace nnapi_convert::nnapi
