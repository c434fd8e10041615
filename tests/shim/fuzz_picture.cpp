// SPDX-License-Identifier: BSD-3-Clause
#include "tests/shim/fuzz_picture.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "lib/shim/picture.h"

namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // of a plane, and of an input

nnapi_shim_tensor tensor_of(const PictureBytes& given) {
  nnapi_shim_tensor tensor{};
  tensor.type = given.type;
  tensor.rank = given.rank;
  std::copy(given.sizes, given.sizes + 4, tensor.sizes);
  tensor.is_nhwc = given.is_nhwc;
  tensor.scale = given.scale;
  tensor.zero_point = given.zero_point;
  tensor.bytes = given.bytes;
  return tensor;
}

// `planes` is the memory of the planes, each of its own size, so that a byte read behind one is noticed.
nnapi_shim_picture picture_of(const PictureBytes& given, std::vector<std::vector<uint8_t>>& planes) {
  nnapi_shim_picture picture{};
  picture.struct_bytes = sizeof picture;
  picture.pixels = given.pixels;
  picture.width = given.width;
  picture.height = given.height;
  for (size_t i = 0; i < 3; ++i) {
    planes.emplace_back(given.plane_bytes[i] % kMostBytes, static_cast<uint8_t>(60 * i + 7));
    picture.planes[i] = planes[i].data();
    picture.plane_bytes[i] = planes[i].size();
    picture.row_bytes[i] = given.row_bytes[i];
    picture.pixel_bytes[i] = given.pixel_bytes[i];
  }
  picture.cut_left = given.cut_left;
  picture.cut_top = given.cut_top;
  picture.cut_width = given.cut_width;
  picture.cut_height = given.cut_height;
  picture.rotation = given.rotation;
  picture.is_mirrored = given.is_mirrored;
  return picture;
}

void require_told(int status, const nnapi_shim_error& error) {
  if (status == NNAPI_SHIM_OK || (status == NNAPI_SHIM_BAD_ARGUMENT && error.message[0] != 0)) return;
  std::fprintf(stderr, "does not hold: a result, or an error with its sentence\n");
  std::abort();
}

}  // namespace

void fuzz_picture(const uint8_t* data, size_t size) {
  if (size < sizeof(PictureBytes)) return;
  PictureBytes given;
  std::memcpy(&given, data, sizeof given);
  nnapi_shim::PictureRecord record;
  if (!nnapi_convert::picture_record::read(data, sizeof record, &record)) return;
  std::vector<std::vector<uint8_t>> planes;
  const nnapi_shim_picture picture = picture_of(given, planes);
  const nnapi_shim_tensor tensor = tensor_of(given);
  std::vector<uint8_t> input(given.bytes % kMostBytes);
  nnapi_shim_error error{};
  require_told(nnapi_shim::fill_picture(record, picture, tensor, input.data(), input.size(), &error), error);
  float boxes[8] = {0, 0, 1, 1, -5, 1e9F, 3, 4};
  error = {};
  require_told(nnapi_shim::boxes_of_picture(record, picture, tensor, boxes, 2, &error), error);
}
