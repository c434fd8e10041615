// SPDX-License-Identifier: BSD-3-Clause
// Numbers the sizes that depend on values, such as how many boxes nms keeps: a Dim has them as axis 0 of an input that
// no model has.
#pragma once

namespace nnapi_convert {

constexpr int kFirstSizeOfValues = 1 << 20;

}  // namespace nnapi_convert
