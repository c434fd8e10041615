// SPDX-License-Identifier: BSD-3-Clause
// Makes a small net for tests that run a model.
#pragma once

#include "tests/shim/buffer_maker.h"

namespace nnapi_shim::testing {

// y = (x + w)^2 + w, with x of [0, 64] floats, the first size flexible, and a weight w of 64 floats. Operations have
// names.
Description three_operations();
// The same net, whose weight is stored as float16, in version 3.
Description three_operations_float16();
// The same net, whose weight is stored as int8, in version 6: 24 * 0.0625 at even places, -12 * -0.125 at odd ones.
Description three_operations_int8();

}  // namespace nnapi_shim::testing
