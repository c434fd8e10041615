// SPDX-License-Identifier: BSD-3-Clause
// Attributes that hold a tensor without elements until forward fills them, as streaming models write it:
// `if not len(self.context): self.context = torch.zeros(1, 64)`.
#pragma once

#include "lib/converter/graph/normalised_model.h"

namespace nnapi_convert {

// Puts an aten::alias behind each read of an attribute that begins empty, where the attribute has elements: after
// forward has set it, and in the branch that a question about its size leads to. infer gives the alias the type that
// forward leaves in the attribute (state_types.h). An attribute that is also read where it may be empty, other than to
// ask for its size, stays as it is.
void mark_filled_state(NormalisedModel& model);

// True for an aten::alias that mark_filled_state() put in.
bool is_filled_read(const torch::jit::Node& node);

// True for a prim::SetAttr that empties an attribute with marked reads: no marked read sees the empty tensor.
bool empties_state(const torch::jit::Node& node);

}  // namespace nnapi_convert
