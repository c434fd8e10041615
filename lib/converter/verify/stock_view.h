// SPDX-License-Identifier: BSD-3-Clause
// Views a model for PyTorch's runtime in the form that the shim's builder takes.
#pragma once

#include "lib/serialize/buffer_reader.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

#include <vector>

namespace nnapi_convert {

// Returns a view of `model` with the numbered buffers `weights`, in their order. The view points into both. Sizes have
// to be known: PyTorch's runtime writes them into the buffer before the first run. Throws ConvertError (kBadFile) for a
// size that is 0, and for a value that is outside its buffer.
nnapi_shim::ModelView view_of(const BufferModel& model, const std::vector<nnapi_shim_buffer>& weights);

}  // namespace nnapi_convert
