// SPDX-License-Identifier: BSD-3-Clause
// Follows the elements of a tensor through RESHAPEs and TRANSPOSEs, to find which rows of the tensor the result holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// `moves` are RESHAPEs and TRANSPOSEs by constant orders, each reading the result of the one before, of fixed sizes
// that aren't 0. `last_order` is one more order of axes; empty for none. Returns for each row of the result the number
// of the row of the first move's input that it holds, rows being as wide as that input's last axis; nothing if rows are
// cut. Takes 8 bytes of memory for each element.
std::optional<std::vector<int32_t>> rows_after_moves(const Model& model, const std::vector<const Operation*>& moves,
                                                     const std::vector<int64_t>& last_order);

}  // namespace nnapi_convert::nnapi
