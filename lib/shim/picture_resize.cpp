// SPDX-License-Identifier: BSD-3-Clause
// The part of pictures that takes the time, in a file of its own: it is made fast, and the rest small.
#include "lib/shim/picture.h"

namespace nnapi_shim {

void resize_picture(const nnapi_convert::pictures::View& view, const nnapi_convert::pictures::Placement& place,
                    uint8_t* to) {
  nnapi_convert::pictures::resize(view, place, to);
}

}  // namespace nnapi_shim
