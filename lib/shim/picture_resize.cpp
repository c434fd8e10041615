// SPDX-License-Identifier: BSD-3-Clause
// Resizes pictures. This takes most of the time, and has a file of its own: it is compiled for speed, the rest for
// size.
#include "lib/shim/picture.h"

namespace nnapi_shim {

void resize_picture(const nnapi_convert::pictures::View& view, const nnapi_convert::pictures::Placement& place,
                    uint8_t* to) {
  nnapi_convert::pictures::resize(view, place, to);
}

}  // namespace nnapi_shim
