// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"
#include "lib/shim/tensor_types.h"

namespace nnapi_shim {
namespace {

namespace pictures = nnapi_convert::pictures;
using nnapi_convert::OperandCode;
using pictures::Fit;

constexpr uint32_t kMostPixelsOfSide = 1 << 16;

// The sizes of an input, and the place of its channels.
struct Form {
  uint32_t channels = 0, height = 0, width = 0;
  bool is_channels_last = false;
  size_t count() const { return size_t{channels} * height * width; }
};

int fail_argument(nnapi_shim_error* error, const char* what, uint64_t found, const char* needed) {
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "picture: %s %llu found, %s needed", what,
              static_cast<unsigned long long>(found), needed);
}

// Checks one plane of `width` by `height` pixels that have `bytes` bytes each, fills in its defaults, and sets it in
// `view`.
int check_plane(const nnapi_shim_picture& picture, uint32_t plane, uint32_t width, uint32_t height, size_t bytes,
                pictures::View* view, nnapi_shim_error* error) {
  const size_t pixel_bytes = picture.pixel_bytes[plane] != 0 ? picture.pixel_bytes[plane] : bytes;
  if (pixel_bytes > kMostPixelsOfSide || picture.row_bytes[plane] > SIZE_MAX / kMostPixelsOfSide) {
    return fail_argument(error, "a step between pixels or rows of", picture.row_bytes[plane], "fewer bytes");
  }
  const uint64_t row = uint64_t{width - 1} * pixel_bytes + bytes;
  const uint64_t row_bytes = picture.row_bytes[plane] != 0 ? picture.row_bytes[plane] : uint64_t{width} * pixel_bytes;
  const uint64_t needed = uint64_t{height - 1} * row_bytes + row;
  if (pixel_bytes < bytes || row_bytes < row) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "picture: plane %u: %zu bytes from pixel to pixel and %llu from row to row found, at least %zu and "
                "%llu needed for %u pixels",
                plane, pixel_bytes, static_cast<unsigned long long>(row_bytes), bytes,
                static_cast<unsigned long long>(row), width);
  }
  if (picture.planes[plane] == nullptr || picture.plane_bytes[plane] < needed) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "picture: plane %u: %zu bytes found, %llu needed for %u x %u pixels",
                plane, picture.planes[plane] != nullptr ? picture.plane_bytes[plane] : 0,
                static_cast<unsigned long long>(needed), width, height);
  }
  view->planes[plane] = static_cast<const uint8_t*>(picture.planes[plane]);
  view->row_bytes[plane] = static_cast<size_t>(row_bytes);
  view->pixel_bytes[plane] = pixel_bytes;
  return NNAPI_SHIM_OK;
}

// Checks the picture without its planes, and fills `view`.
int read_part(const nnapi_shim_picture& picture, pictures::View* view, nnapi_shim_error* error) {
  if (picture.struct_bytes != sizeof picture) {
    return fail_argument(error, "struct_bytes", picture.struct_bytes, "sizeof(nnapi_shim_picture)");
  }
  const uint32_t width = picture.width, height = picture.height;
  if (width == 0 || height == 0 || width > kMostPixelsOfSide || height > kMostPixelsOfSide) {
    return fail_argument(error, "a side of", width == 0 || width > kMostPixelsOfSide ? width : height,
                         "1 to 65536 pixels");
  }
  if (picture.rotation < 0 || picture.rotation > 270 || picture.rotation % 90 != 0) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "picture: rotation %d found, 0, 90, 180 or 270 needed",
                static_cast<int>(picture.rotation));
  }
  const bool is_whole = picture.cut_width == 0 && picture.cut_height == 0;
  view->left = picture.cut_left;
  view->top = picture.cut_top;
  view->width = is_whole && picture.cut_left == 0 ? width : picture.cut_width;
  view->height = is_whole && picture.cut_top == 0 ? height : picture.cut_height;
  const bool is_within = view->width > 0 && view->height > 0 && uint64_t{view->left} + view->width <= width &&
                         uint64_t{view->top} + view->height <= height;
  if (!is_within) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "picture: rectangle %u x %u at %u, %u found, one within %u x %u needed",
                view->width, view->height, view->left, view->top, width, height);
  }
  view->quarter_turns = static_cast<uint32_t>(picture.rotation) / 90;
  view->is_mirrored = picture.is_mirrored != 0;
  return NNAPI_SHIM_OK;
}

int read_view(const nnapi_shim_picture& picture, pictures::View* view, nnapi_shim_error* error) {
  int status = read_part(picture, view, error);
  if (status != NNAPI_SHIM_OK) return status;
  const uint32_t width = picture.width, height = picture.height;
  switch (picture.pixels) {
    case NNAPI_SHIM_RGB:
      return check_plane(picture, 0, width, height, 3, view, error);
    case NNAPI_SHIM_RGBA:
      return check_plane(picture, 0, width, height, 4, view, error);
    case NNAPI_SHIM_YUV_420:
      view->is_yuv = true;
      status = check_plane(picture, 0, width, height, 1, view, error);
      for (uint32_t plane = 1; plane < 3 && status == NNAPI_SHIM_OK; ++plane) {
        status = check_plane(picture, plane, (width + 1) / 2, (height + 1) / 2, 1, view, error);
      }
      return status;
    default:
      return fail_argument(error, "pixels", static_cast<uint32_t>(picture.pixels), "an nnapi_shim_pixels");
  }
}

int read_form(const PictureRecord& record, const nnapi_shim_tensor& tensor, Form* form, nnapi_shim_error* error) {
  form->is_channels_last = tensor.is_nhwc != 0 || record.takes_bytes();
  const bool has_rank = tensor.rank == 3 || (tensor.rank == 4 && tensor.sizes[0] == 1);
  if (has_rank) {
    const uint32_t* sizes = tensor.sizes + (tensor.rank - 3);
    const bool is_last = form->is_channels_last;
    form->channels = sizes[is_last ? 2 : 0];
    form->height = sizes[is_last ? 0 : 1];
    form->width = sizes[is_last ? 1 : 2];
  }
  const bool is_sized = form->channels == record.channels && form->height > 0 && form->width > 0 &&
                        form->height <= kMostPixelsOfSide && form->width <= kMostPixelsOfSide;
  if (is_sized) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
              "picture: an input of rank %u, sizes %u, %u, %u, %u found, one picture of %u channels with known sizes "
              "needed: describe the input for a batch of 1",
              tensor.rank, tensor.sizes[0], tensor.sizes[1], tensor.sizes[2], tensor.sizes[3], record.channels);
}

int place_picture(const PictureRecord& record, const pictures::View& view, const Form& form, pictures::Placement* place,
                  nnapi_shim_error* error) {
  const uint32_t width = view.turned_width(), height = view.turned_height();
  switch (pictures::place(width, height, preparation_of(record), form.width, form.height, place)) {
    case Fit::kFits:
      return NNAPI_SHIM_OK;
    case Fit::kTooSmall:
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                  "picture: %u x %u pixels found, at least %u x %u needed to cut out the middle", place->width,
                  place->height, record.crop, record.crop);
    case Fit::kOtherSize:
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                  "picture: %u x %u pixels become %u x %u by the file's resize %u and crop %u, and the input has "
                  "%u x %u (width x height)",
                  width, height, place->width, place->height, record.resize, record.crop, form.width, form.height);
    case Fit::kTooLarge:
      break;
  }
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "picture: %u x %u pixels found, too many once they are resized", width,
              height);
}

// Rounds as at::quantize_per_tensor does: multiplies by the inverse of the scale, halves go to even.
uint8_t quantised(float value, const nnapi_shim_tensor& tensor) {
  const bool is_signed = tensor.type == static_cast<int32_t>(OperandCode::TENSOR_QUANT8_ASYMM_SIGNED);
  const float low = is_signed ? -128 : 0, high = low + 255;
  const float number = std::nearbyint(value * (1.0f / tensor.scale)) + static_cast<float>(tensor.zero_point);
  return static_cast<uint8_t>(static_cast<int32_t>(number > low ? (number < high ? number : high) : low));
}

// Writes a channel: for each pixel the element that `elements` has for the pixel's byte. Buffers need no alignment.
template <typename Element>
void write_channel(const std::vector<uint8_t>& pixels, const Form& form, size_t channel, bool is_bgr,
                   const Element* elements, uint8_t* to) {
  const size_t count = size_t{form.height} * form.width;
  const size_t step = (form.is_channels_last ? form.channels : 1) * sizeof(Element);
  to += (form.is_channels_last ? channel : channel * count) * sizeof(Element);
  pictures::each_byte(pixels.data(), count, channel, form.channels, is_bgr,
                      [&](size_t i, uint8_t byte) { std::memcpy(to + i * step, elements + byte, sizeof(Element)); });
}

void write_floats(const PictureRecord& record, const std::vector<uint8_t>& pixels, const Form& form, uint8_t* to) {
  const pictures::Preparation how = preparation_of(record);
  for (size_t channel = 0; channel < form.channels; ++channel) {
    write_channel(pixels, form, channel, how.is_bgr, pictures::values_of(how, channel).data(), to);
  }
}

void write_quantised(const PictureRecord& record, const std::vector<uint8_t>& pixels, const nnapi_shim_tensor& tensor,
                     const Form& form, uint8_t* to) {
  const pictures::Preparation how = preparation_of(record);
  for (size_t channel = 0; channel < form.channels; ++channel) {
    const pictures::Values values = pictures::values_of(how, channel);
    uint8_t numbers[256];
    for (size_t byte = 0; byte < values.size(); ++byte) numbers[byte] = quantised(values[byte], tensor);
    write_channel(pixels, form, channel, how.is_bgr, numbers, to);
  }
}

// Writes the pixels' bytes, for a model that normalises them itself.
void write_pixels(const std::vector<uint8_t>& pixels, const Form& form, uint8_t* to) {
  uint8_t same[256];
  for (size_t byte = 0; byte < 256; ++byte) same[byte] = static_cast<uint8_t>(byte);
  for (size_t channel = 0; channel < std::min<size_t>(form.channels, 3); ++channel) {
    write_channel(pixels, form, channel, false, same, to);
  }
  const size_t count = form.count();
  for (size_t i = 3; form.channels == 4 && i < count; i += 4) to[i] = 255;  // alpha
}

}  // namespace

nnapi_shim_tensor picture_tensor(const PictureRecord& record) {
  nnapi_shim_tensor tensor = {};
  const auto type = record.takes_bytes() ? OperandCode::TENSOR_QUANT8_ASYMM : OperandCode::TENSOR_FLOAT32;
  tensor.type = static_cast<int32_t>(type);
  tensor.scale = record.takes_bytes() ? 1.0f : 0.0f;
  tensor.rank = record.rank;
  tensor.sizes[0] = 1;
  uint32_t* sizes = tensor.sizes + (record.rank - 3);
  sizes[record.takes_bytes() ? 2 : 0] = record.channels;
  sizes[record.takes_bytes() ? 0 : 1] = record.height;
  sizes[record.takes_bytes() ? 1 : 2] = record.width;
  tensor.bytes = size_t{record.channels} * record.height * record.width * (record.takes_bytes() ? 1 : sizeof(float));
  return tensor;
}

int fill_picture(const PictureRecord& record, const nnapi_shim_picture& picture, const nnapi_shim_tensor& tensor,
                 void* data, size_t bytes, nnapi_shim_error* error) {
  pictures::View view;
  pictures::Placement place;
  Form form;
  int status = read_view(picture, &view, error);
  if (status == NNAPI_SHIM_OK) status = read_form(record, tensor, &form, error);
  if (status == NNAPI_SHIM_OK) status = place_picture(record, view, form, &place, error);
  if (status != NNAPI_SHIM_OK) return status;
  const bool has_floats = is_float(tensor.type);
  if (has_floats ? record.takes_bytes() : !is_8_bit(tensor.type) || (!record.takes_bytes() && !(tensor.scale > 0))) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "picture: an input of type %d found, %s needed",
                static_cast<int>(tensor.type),
                record.takes_bytes() ? "TENSOR_QUANT8_ASYMM for bytes of pixels"
                                     : "TENSOR_FLOAT32, or TENSOR_QUANT8_ASYMM or _SIGNED with a scale");
  }
  const size_t needed = form.count() * (has_floats ? sizeof(float) : 1);
  if (bytes != needed) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "picture: an input of %zu bytes found, %zu needed", bytes, needed);
  }
  std::vector<uint8_t> pixels(size_t{place.width} * place.height * pictures::kChannels);
  resize_picture(view, place, pixels.data());
  auto* to = static_cast<uint8_t*>(data);
  if (has_floats) {
    write_floats(record, pixels, form, to);
  } else if (record.takes_bytes()) {
    write_pixels(pixels, form, to);
  } else {
    write_quantised(record, pixels, tensor, form, to);
  }
  return NNAPI_SHIM_OK;
}

int boxes_of_picture(const PictureRecord& record, const nnapi_shim_picture& picture, const nnapi_shim_tensor& tensor,
                     float* boxes, size_t count, nnapi_shim_error* error) {
  pictures::View view;
  pictures::Placement place;
  Form form;
  // The planes are not checked: the pixels are not read.
  int status = read_part(picture, &view, error);
  if (status == NNAPI_SHIM_OK) status = read_form(record, tensor, &form, error);
  if (status == NNAPI_SHIM_OK) status = place_picture(record, view, form, &place, error);
  if (status != NNAPI_SHIM_OK) return status;
  const float across = static_cast<float>(place.from_width) / static_cast<float>(place.resized_width);
  const float down = static_cast<float>(place.from_height) / static_cast<float>(place.resized_height);
  for (float* box = boxes; box != boxes + count * 4; box += 4) {
    for (size_t corner = 0; corner < 4; corner += 2) {
      box[corner] = (box[corner] + static_cast<float>(place.left)) * across;
      box[corner + 1] = (box[corner + 1] + static_cast<float>(place.top)) * down;
      pictures::turn_back<float>(view, 0, box + corner, box + corner + 1);
    }
    if (box[2] < box[0]) std::swap(box[0], box[2]);
    if (box[3] < box[1]) std::swap(box[1], box[3]);
  }
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
