// A model of PyTorch's runtime, as the shim's builder takes models.
#pragma once

#include "lib/serialize/buffer_reader.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

#include <vector>

namespace nnapi_convert {

// Views `model`, whose numbered buffers are `weights`, in their order. The view points into both. Sizes have to be
// known: PyTorch's runtime writes them into the words before the first run. Throws ConvertError (kBadFile) for a size
// that is 0, and for a value that is outside its buffer.
nnapi_shim::ModelView view_of(const BufferModel& model, const std::vector<nnapi_shim_buffer>& weights);

}  // namespace nnapi_convert
