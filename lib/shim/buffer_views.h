// SPDX-License-Identifier: BSD-3-Clause
// Fills the views of a buffer's models (lib/shim/model_view.h) and checks them.
#pragma once

#include "lib/shim/buffer_layout.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Fills the models of `view` from the words of `view`; find_layout has checked them.
void fill_models(const BufferLayout& layout, ModelView* view);

// Returns the bytes of one element; 0 for the type MODEL, which has none, and for types that NNAPI does not have.
uint32_t element_bytes(int32_t type);
// Returns whether operands of this type have dimensions.
bool is_tensor(int32_t type);

// Computes the bytes of an operand whose dimensions are known. Returns false for 4 GiB or more.
bool operand_bytes(const OperandView& operand, uint64_t* bytes);

// Checks all codes, indices, lengths, sizes, texts and patches, which find_layout does not check. fill_models has
// filled `view`. A size of 0 needs a patch.
bool check_models(const BufferLayout& layout, const ModelView& view, uint64_t weight_bytes, nnapi_shim_error* error);

}  // namespace nnapi_shim
