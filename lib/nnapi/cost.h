// What a model costs to run, as far as its shapes tell.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Multiply-adds of convolutions, fully connected layers, matrix products and recurrent layers; other operations count
// nothing, nor do operations on flexible sizes.
int64_t multiply_adds(const Model& model);
int64_t multiply_adds(const Model& model, const Operation& operation);

// Bytes of a tensor's elements, 0 for scalars; nothing for a flexible size.
std::optional<int64_t> byte_count(const Operand& operand);

}  // namespace nnapi_convert::nnapi
