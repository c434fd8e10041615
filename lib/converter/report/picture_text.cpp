// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/picture_text.h"

#include <fmt/format.h>

#include <vector>

namespace nnapi_convert {
namespace {

std::string normalisation_text(double pixel_max, const std::vector<double>& mean, const std::vector<double>& std,
                               bool is_bgr) {
  const auto text = [](const std::vector<double>& numbers) {
    return numbers.empty() ? "none" : fmt::format("{}", fmt::join(numbers, ","));
  };
  return fmt::format("0 to {}, mean {}, std {}, {}", pixel_max, text(mean), text(std), is_bgr ? "BGR" : "RGB");
}

}  // namespace

std::string to_text(const PictureChoice& pictures) {
  std::string text = "pictures";
  if (pictures.resize != 0) text += fmt::format(", the shorter side made {} pixels", pictures.resize);
  if (pictures.crop != 0) text += fmt::format(", the middle {} pixels taken", pictures.crop);
  if (!pictures.normalises()) return text;
  return text + ", " + normalisation_text(pictures.pixel_max, pictures.mean, pictures.std, pictures.is_bgr);
}

std::string to_text(const PixelInput& pixels) {
  return fmt::format("pixels as bytes, {}; the original's are {}",
                     pixels.has_alpha ? "red, green, blue, alpha" : "red, green, blue, or gray",
                     normalisation_text(pixels.pixel_max, pixels.mean, pixels.std, pixels.is_bgr));
}

}  // namespace nnapi_convert
