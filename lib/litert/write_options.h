// SPDX-License-Identifier: BSD-3-Clause
// How LiteRT files are written.
#pragma once

namespace nnapi_convert::litert {

struct WriteOptions {
  // Otherwise uint8 tensors become int8, by subtracting 128. Where weights have a scale for each channel, inputs and
  // outputs alone keep it.
  bool keeps_uint8 = false;
};

}  // namespace nnapi_convert::litert
