// The views of a buffer's models (lib/shim/model_view.h), and what has to hold for them.
#pragma once

#include "lib/shim/buffer_layout.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Fills the models of `view` from its words, whose layout was checked.
void fill_models(const BufferLayout& layout, ModelView* view);

// Bytes of one element; 0 for types that have no bytes (MODEL) or that NNAPI does not know.
uint32_t element_bytes(int32_t type);
// Whether values of this type have dimensions.
bool is_tensor(int32_t type);

// The bytes of an operand whose dimensions are known, which has to be less than 4 GiB: false if it is more.
bool operand_bytes(const OperandView& operand, uint64_t* bytes);

// Checks what find_layout leaves open: all codes, indices, lengths, sizes, texts and patches. `view` has been filled
// from `words`. Sizes that are 0 have to be patched.
bool check_models(const BufferLayout& layout, const ModelView& view, uint64_t weight_bytes, nnapi_shim_error* error);

}  // namespace nnapi_shim
