// SPDX-License-Identifier: BSD-3-Clause
// Numbers the sizes that depend on values, such as how many boxes nms keeps. A Dim represents such a size as axis 0 of
// an input whose number no model has.
#pragma once

namespace nnapi_convert {

constexpr int kFirstSizeOfValues = 1 << 20;

}  // namespace nnapi_convert
