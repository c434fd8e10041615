// SPDX-License-Identifier: BSD-3-Clause
// Finds the shared state of which a method can't assume the types, as other methods of the file change it.
#pragma once

#include <string>
#include <vector>

#include "lib/converter/emit/emit_methods.h"

namespace nnapi_convert {

// Returns the attributes that method `number` reads and that another one of the methods may leave with other sizes or
// another dtype than they have at the beginning. The method can't know their types. Sorted.
std::vector<AttributePath> unsettled_state(const std::vector<PlannedMethod>& methods, size_t number);

}  // namespace nnapi_convert
