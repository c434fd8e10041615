// SPDX-License-Identifier: BSD-3-Clause
// How LiteRT files are written.
#pragma once

namespace nnapi_convert::litert {

struct WriteOptions {
  bool keeps_uint8 = false;  // otherwise uint8 tensors become int8, by subtracting 128
};

}  // namespace nnapi_convert::litert
