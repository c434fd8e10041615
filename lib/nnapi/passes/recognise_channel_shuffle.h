// Writes RESHAPE, TRANSPOSE, RESHAPE that cut one axis into groups, swap groups and members and join them again (what
// PyTorch's models write for a channel shuffle) as one CHANNEL_SHUFFLE. Runs after merge_moves.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

void recognise_channel_shuffle(Model& model);

}  // namespace nnapi_convert::nnapi
