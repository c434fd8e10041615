// Reading JPEG by libjpeg-turbo and PNG by libpng.
#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

#include "lib/base/error.h"
#include "lib/calibration/file_bytes.h"
#include "lib/calibration/picture.h"

namespace nnapi_convert::calibration {
namespace {

constexpr uint64_t kMostPixels = uint64_t{1} << 28;

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", path, problem));
}

// libjpeg ends the process after an error unless it is led away by a jump.
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

// False with a message. Nothing that has a destructor lives across the jump.
bool decode_jpeg(const uint8_t* bytes, size_t size, Picture* picture, JpegErrors* errors) {
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
  info.out_color_space = JCS_RGB;
  if (uint64_t{info.image_width} * info.image_height > kMostPixels) {
    std::snprintf(errors->message, sizeof(errors->message), "more than 2^28 pixels");
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_start_decompress(&info);
  picture->width = info.output_width;
  picture->height = info.output_height;
  picture->pixels.resize(picture->width * picture->height * 3);
  while (info.output_scanline < info.output_height) {
    uint8_t* row = picture->pixels.data() + size_t{info.output_scanline} * picture->width * 3;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  // A file that is cut short is decoded with a warning, and grey below the cut.
  const bool is_whole = info.err->num_warnings == 0;
  if (!is_whole) info.err->format_message(reinterpret_cast<j_common_ptr>(&info), errors->message);
  jpeg_destroy_decompress(&info);
  return is_whole;
}

Picture read_jpeg(const std::vector<uint8_t>& bytes, const std::string& path) {
  Picture picture;
  JpegErrors errors;
  if (!decode_jpeg(bytes.data(), bytes.size(), &picture, &errors))
    fail(path, fmt::format("no whole JPEG: {}", errors.message));
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
  image.format = PNG_FORMAT_RGBA;  // transparency is left out, not blended
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
