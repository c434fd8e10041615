// SPDX-License-Identifier: BSD-3-Clause
// Reading JPEG by libjpeg-turbo and PNG by libpng.
#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

#include "lib/base/error.h"
#include "lib/base/file_bytes.h"
#include "lib/base/picture.h"

namespace nnapi_convert::calibration {
namespace {

constexpr uint64_t kMostPixels = uint64_t{1} << 28;

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", path, problem));
}

// libjpeg ends the process after an error unless the error handler leaves it by a longjmp to `on_error`.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf on_error;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->on_error, 1);
}

// Decodes into `picture`, whose pixels have `channels` bytes each: 3, or 4 for CMYK. Returns false, with a message in
// `errors`, for a bad file. No local variable here has a destructor, as longjmp would skip it.
bool decode_jpeg(const uint8_t* bytes, size_t size, Picture* picture, size_t* channels, JpegErrors* errors) {
  jpeg_decompress_struct info;
  info.err = jpeg_std_error(&errors->base);
  errors->base.error_exit = leave;
  errors->base.output_message = [](j_common_ptr) {};
  if (setjmp(errors->on_error) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes, static_cast<unsigned long>(size));
  jpeg_read_header(&info, TRUE);
  const bool is_cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
  *channels = is_cmyk ? 4 : 3;
  if (uint64_t{info.image_width} * info.image_height > kMostPixels) {
    std::snprintf(errors->message, sizeof(errors->message), "more than 2^28 pixels");
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_start_decompress(&info);
  picture->width = info.output_width;
  picture->height = info.output_height;
  picture->pixels.resize(picture->width * picture->height * *channels);
  while (info.output_scanline < info.output_height) {
    uint8_t* row = picture->pixels.data() + size_t{info.output_scanline} * picture->width * *channels;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  // A file that is cut short is decoded with a warning, and grey below the cut.
  const bool is_whole = info.err->num_warnings == 0;
  if (!is_whole) info.err->format_message(reinterpret_cast<j_common_ptr>(&info), errors->message);
  jpeg_destroy_decompress(&info);
  return is_whole;
}

// Converts the picture in place from CMYK as Adobe stores it: 255 is no ink.
void cmyk_to_rgb(Picture& picture) {
  constexpr size_t kColors = 3;
  const size_t count = picture.width * picture.height;
  uint8_t* pixels = picture.pixels.data();
  for (size_t i = 0; i < count; ++i) {
    const unsigned black = pixels[i * 4 + kColors];
    for (size_t color = 0; color < kColors; ++color) {
      pixels[i * kColors + color] = static_cast<uint8_t>((pixels[i * 4 + color] * black + 127) / 255);
    }
  }
  picture.pixels.resize(count * kColors);
}

Picture read_jpeg(const std::vector<uint8_t>& bytes, const std::string& path) {
  Picture picture;
  size_t channels = 0;
  JpegErrors errors;
  if (!decode_jpeg(bytes.data(), bytes.size(), &picture, &channels, &errors))
    fail(path, fmt::format("no whole JPEG: {}", errors.message));
  if (channels == 4) cmyk_to_rgb(picture);
  return picture;
}

Picture read_png(const std::vector<uint8_t>& bytes, const std::string& path) {
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    fail(path, fmt::format("no whole PNG: {}", image.message));
  }
  if (uint64_t{image.width} * image.height > kMostPixels) {
    png_image_free(&image);
    fail(path, "more than 2^28 pixels");
  }
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else libpng takes 16 bits to be light, and brightens them
  image.format = PNG_FORMAT_RGBA;            // transparency is left out, not blended
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0) {
    fail(path, fmt::format("no whole PNG: {}", image.message));
  }
  Picture picture{image.width, image.height, {}};
  picture.pixels.reserve(pixels.size() / 4 * 3);
  for (size_t i = 0; i < pixels.size(); i += 4) {
    picture.pixels.insert(picture.pixels.end(), pixels.begin() + static_cast<std::ptrdiff_t>(i),
                          pixels.begin() + static_cast<std::ptrdiff_t>(i + 3));
  }
  return picture;
}

}  // namespace

Picture read_picture(const std::string& path) {
  const std::vector<uint8_t> bytes = file_bytes(path);
  if (bytes.size() > 3 && bytes[0] == 0xff && bytes[1] == 0xd8) return read_jpeg(bytes, path);
  if (bytes.size() > 8 && png_sig_cmp(bytes.data(), 0, 8) == 0) return read_png(bytes, path);
  fail(path, "neither JPEG nor PNG");
}

}  // namespace nnapi_convert::calibration
