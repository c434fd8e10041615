// What a model costs to run, as far as its shapes tell.
#pragma once

#include "lib/base/count.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Multiply-adds of convolutions, fully connected layers, matrix products and recurrent layers; other operations have
// none. Unknown on flexible sizes.
Count multiply_adds(const Model& model, const Operation& operation);  // without its subgraphs
// With subgraphs: unknown for branches that differ, and for loops that have any.
Count multiply_adds(const Model& model);

// Elements of a tensor, 1 for scalars.
Count element_count(const Operand& operand);
// Bytes of a tensor's elements, 0 for scalars. Unknown for a flexible size.
Count byte_count(const Operand& operand);
Count byte_count(const Model& model, const std::vector<Boundary>& boundaries);

}  // namespace nnapi_convert::nnapi
