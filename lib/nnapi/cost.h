// SPDX-License-Identifier: BSD-3-Clause
// Computes the cost of running a model from its shapes: multiply-adds, elements and bytes.
#pragma once

#include "lib/base/count.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Returns the multiply-adds of convolutions, fully connected layers, matrix products and recurrent layers; 0 for other
// operations. Unknown for flexible sizes.
Count multiply_adds(const Model& model, const Operation& operation);  // without its subgraphs
// Returns the multiply-adds of a model with its subgraphs. Unknown if branches differ or a loop has multiply-adds.
Count multiply_adds(const Model& model);

// Returns the elements of a tensor; 1 for scalars.
Count element_count(const Operand& operand);
// Returns the bytes of a tensor; 0 for scalars. Unknown for a flexible size.
Count byte_count(const Operand& operand);
Count byte_count(const Model& model, const std::vector<Boundary>& boundaries);

}  // namespace nnapi_convert::nnapi
