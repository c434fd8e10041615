// SPDX-License-Identifier: BSD-3-Clause
// Reads operations that multiply each channel by a constant or add one to it.
#pragma once

#include <optional>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// True for MUL, ADD and SUB without an activation.
bool is_affine(const Model& model, const Operation& operation);

// Returns the value for each of `channels` of a float constant that varies at most along the axis of the channels of an
// operand with `rank` axes; nothing for other operands.
std::optional<std::vector<float>> per_channel_values(const Operand& operand, size_t rank, size_t channels,
                                                     size_t axis = 1);

}  // namespace nnapi_convert::nnapi
