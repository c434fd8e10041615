// SPDX-License-Identifier: BSD-3-Clause
// How LiteRT files are written.
#pragma once

namespace nnapi_convert::litert {

struct WriteOptions {
  // Keeps uint8 tensors; otherwise they become int8, by subtracting 128. If weights have a scale for each channel, only
  // inputs and outputs keep uint8.
  bool keeps_uint8 = false;
};

}  // namespace nnapi_convert::litert
