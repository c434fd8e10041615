// SPDX-License-Identifier: BSD-3-Clause
// Fills a model's input with a picture, as the converter prepared the pictures with which it calibrated, and maps boxes
// back to the picture.
#pragma once

#include "lib/format/picture_record.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

using PictureRecord = nnapi_convert::picture_record::Record;

// Writes the rows of a placed picture: 3 bytes for each pixel.
void resize_picture(const nnapi_convert::pictures::View& view, const nnapi_convert::pictures::Placement& place,
                    uint8_t* to);

// Describes forward's argument in PyTorch's order; free sizes are 0.
nnapi_shim_tensor picture_tensor(const PictureRecord& record);

int fill_picture(const PictureRecord& record, const nnapi_shim_picture& picture, const nnapi_shim_tensor& tensor,
                 void* data, size_t bytes, nnapi_shim_error* error);
int boxes_of_picture(const PictureRecord& record, const nnapi_shim_picture& picture, const nnapi_shim_tensor& tensor,
                     float* boxes, size_t count, nnapi_shim_error* error);

}  // namespace nnapi_shim
