// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzer of the shim makes of bytes for pictures: a file's record, an app's picture, and an input to fill.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/format/picture_record.h"

// As it lies at an input's begin; the fuzzer writes any bytes there.
struct PictureBytes {
  nnapi_convert::picture_record::Record record;
  int32_t pixels;
  uint32_t width, height;
  uint32_t plane_bytes[3], row_bytes[3], pixel_bytes[3];
  uint32_t cut_left, cut_top, cut_width, cut_height;
  int32_t rotation, is_mirrored;
  int32_t type;
  uint32_t rank, sizes[4], is_nhwc;
  float scale;
  int32_t zero_point;
  uint32_t bytes;
};

// Fills an input with the picture, and takes boxes back to it. Aborts where neither a result nor an error comes of it.
void fuzz_picture(const uint8_t* data, size_t size);
