// SPDX-License-Identifier: BSD-3-Clause
// Finds the operations that --keep-float NAME means.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

// Returns whether the name is the operation's, its result's, or its source line.
bool is_named(const nnapi::Model& model, const nnapi::Operation& operation, const std::string& name);
bool is_any_named(const nnapi::Model& model, const std::string& name);
// Returns the names that mean operations of this model.
std::vector<std::string> names_in(const nnapi::Model& model, const std::vector<std::string>& names);
// Returns for each operation whether one of the names means it. Throws ConvertError (kUsage) for a name that means
// none.
std::vector<bool> kept_float(const nnapi::Model& model, const std::vector<std::string>& names);
// Sets `kept` for the operations of recurrent layers.
void keep_recurrent(const nnapi::Model& model, std::vector<bool>& kept);
// Throws ConvertError (kUsage) for a name that no operation has.
[[noreturn]] void refuse_name(const std::string& name);

}  // namespace nnapi_convert::quantise
