// Makes the parts of aten::unsafe_chunk and its kin, which traces of recurrent cells change in place, ordinary ones.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace nnapi_convert {

// unsafe_chunk, unsafe_split and unsafe_split_with_sizes of a tensor that nothing else reads become chunk, split and
// split_with_sizes where all that changes a part in place can be made functional: the parts don't overlap. Comes before
// freezing, which keeps weights apart that a change of an element of a list might reach.
void make_chunks_safe(torch::jit::Graph& graph);

}  // namespace nnapi_convert
