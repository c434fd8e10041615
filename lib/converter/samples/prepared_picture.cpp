// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/prepared_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

using calibration::Picture;
using pictures::Fit;
using pictures::Placement;

pictures::View view_of(const Picture& picture) {
  pictures::View view;
  view.planes[0] = picture.pixels.data();
  view.pixel_bytes[0] = pictures::kChannels;
  view.row_bytes[0] = picture.width * pictures::kChannels;
  view.width = static_cast<uint32_t>(picture.width);
  view.height = static_cast<uint32_t>(picture.height);
  return view;
}

[[noreturn]] void fail(const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, problem);
}

Placement placement_of(const Picture& picture, const PictureSize& size, const pictures::Preparation& how) {
  Placement place;
  const Fit fit = pictures::place(static_cast<uint32_t>(picture.width), static_cast<uint32_t>(picture.height), how,
                                  static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height), &place);
  if (fit == Fit::kTooSmall) {
    fail(fmt::format("{}x{} pixels found, at least {}x{} needed to crop; use --resize", place.width, place.height,
                     how.crop, how.crop));
  }
  if (fit == Fit::kOtherSize) {
    fail(fmt::format("{}x{} pixels found after --resize and --crop, {}x{} (width x height) needed", place.width,
                     place.height, size.width, size.height));
  }
  if (fit == Fit::kTooLarge) {
    fail(fmt::format("{}x{} pixels found, too many once they are resized", picture.width, picture.height));
  }
  return place;
}

double of_channel(const std::vector<double>& values, size_t channel, double otherwise) {
  if (values.empty()) return otherwise;
  return values[std::min(channel, values.size() - 1)];
}

}  // namespace

pictures::Preparation preparation_of(const PictureChoice& choice) {
  pictures::Preparation how;
  how.resize = static_cast<uint32_t>(choice.resize);
  how.crop = static_cast<uint32_t>(choice.crop);
  how.pixel_max = choice.pixel_max;
  for (size_t channel = 0; channel < pictures::kChannels; ++channel) {
    how.mean[channel] = of_channel(choice.mean, channel, 0);
    how.std[channel] = of_channel(choice.std, channel, 1);
  }
  how.is_bgr = choice.is_bgr;
  return how;
}

PictureTensor prepared(const Picture& picture, const PictureSize& size, const pictures::Preparation& how) {
  const Placement place = placement_of(picture, size, how);
  const size_t count = size_t{place.width} * place.height, channels = static_cast<size_t>(size.channels);
  std::vector<uint8_t> pixels(count * pictures::kChannels);
  pictures::resize(view_of(picture), place, pixels.data());
  PictureTensor tensor{size.channels, place.height, place.width, std::vector<float>(count * channels)};
  for (size_t channel = 0; channel < channels; ++channel) {
    const pictures::Values values = pictures::values_of(how, channel);
    float* to = tensor.values.data() + channel * count;
    pictures::each_byte(pixels.data(), count, channel, channels, how.is_bgr,
                        [&](size_t i, uint8_t byte) { to[i] = values[byte]; });
  }
  return tensor;
}

}  // namespace nnapi_convert
