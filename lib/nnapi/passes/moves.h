// SPDX-License-Identifier: BSD-3-Clause
// Answers questions of passes about moves: RESHAPE, and TRANSPOSE by a constant order.
#pragma once

#include <optional>
#include <vector>

#include "lib/nnapi/builder.h"

namespace nnapi_convert::nnapi {

bool is_move(const Model& model, const Operation& operation);
// Returns the order of a TRANSPOSE; empty for a RESHAPE.
std::vector<int64_t> order_of(const Model& model, const Operation& move);
// Returns whether two moves have the same sizes before and after, and the same order.
bool are_alike(const Model& model, const Operation& a, const Operation& b);

// Returns true if moving axes by `order` keeps the sequence of elements: axes of size 1 may go anywhere.
bool keeps_sequence(const Dims& dims, const std::vector<int64_t>& order);

// Returns whether tensors of this type can be moved at every feature level: RESHAPE and TRANSPOSE take no bool, and
// integers only at late feature levels.
bool can_be_moved(OperandCode type);

// Returns the product of the sizes behind an axis.
Dim product_after(const Dims& dims, size_t axis);

// Returns an elementwise operation's argument in the form that it needs if the operation comes before the move;
// nothing if there is no such form. An argument that is no Constant stays.
std::optional<OperandId> before_move(Builder& builder, OperandId id, const Operation& move);

}  // namespace nnapi_convert::nnapi
