// SPDX-License-Identifier: BSD-3-Clause
// Turns a long way of moves and slices that only puts whole rows in another order into one GATHER of rows. A shifted
// window of attention is such a way: a roll along two axes, and a partition into windows. Joining windows to a grid or
// a picture is one, too.
#pragma once

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// Changes ways that end in a linear layer or begin behind one, and ways with two TRANSPOSEs or more that begin at rows:
// the layout of pictures isn't chosen yet. Changes nothing below feature level 3, which has GATHER first.
void gather_rows(Model& model, int feature_level);

}  // namespace nnapi_convert::nnapi
