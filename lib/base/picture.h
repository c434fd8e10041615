// Pictures (JPEG, PNG) as a network takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_convert::calibration {

// Rows of pixels, each of 3 bytes: red, green, blue.
struct Picture {
  size_t width = 0, height = 0;
  std::vector<uint8_t> pixels;
};

// Throws ConvertError (kBadFile) for what is no JPEG or PNG, or is damaged.
Picture read_picture(const std::string& path);

// As in torchvision's usual transform: the shorter side is resized, the middle cut out, and each channel becomes
// (pixel / 255 * pixel_max - mean) / std.
struct PictureOptions {
  int64_t resize = 0;             // the shorter side becomes this; 0: none
  int64_t crop = 0;               // the middle square of this side is cut out; 0: none
  double pixel_max = 1;           // what the brightest pixel is before mean and std
  std::vector<double> mean = {};  // one for each channel, or one for all; empty: 0
  std::vector<double> std = {};   // the same; empty: 1
  bool is_bgr = false;            // blue comes first
};

// What a network takes: 3 channels, or 1, which is brightness; 0 for sizes that are free.
struct PictureSize {
  int64_t channels = 3, height = 0, width = 0;
};

struct PictureTensor {
  int64_t channels = 0, height = 0, width = 0;
  std::vector<float> values;  // by channel, row, column
};

// Without resize and crop the picture is stretched to the size. Throws ConvertError (kBadFile) where it has another
// size afterwards.
PictureTensor to_tensor(const Picture& picture, const PictureSize& size, const PictureOptions& options);

// With a triangle filter as wide as what a pixel stands for, as Pillow's bilinear resize.
Picture resized(const Picture& picture, size_t width, size_t height);

}  // namespace nnapi_convert::calibration
