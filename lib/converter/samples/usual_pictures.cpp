// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/usual_pictures.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

namespace nnapi_convert {
namespace {

bool is_same_normalisation(const PictureChoice& one, const PictureChoice& other, int64_t channels) {
  const auto at = [](const std::vector<double>& values, int64_t channel, double otherwise) {
    return values.empty() ? otherwise : values[std::min(static_cast<size_t>(channel), values.size() - 1)];
  };
  if (one.pixel_max != other.pixel_max || one.is_bgr != other.is_bgr) return false;
  for (int64_t channel = 0; channel < channels; ++channel) {
    if (at(one.mean, channel, 0) != at(other.mean, channel, 0)) return false;
    if (at(one.std, channel, 1) != at(other.std, channel, 1)) return false;
  }
  return true;
}

PictureChoice normalisation(double pixel_max, std::vector<double> mean, std::vector<double> std) {
  PictureChoice choice;
  choice.pixel_max = pixel_max;
  choice.mean = std::move(mean);
  choice.std = std::move(std);
  return choice;
}

PictureChoice with_colours_swapped(PictureChoice choice) {
  choice.is_bgr = !choice.is_bgr;
  return choice;
}

at::Tensor by_channel(const std::vector<double>& values, double otherwise) {
  const std::vector<double> all = values.empty() ? std::vector<double>{otherwise} : values;
  return at::tensor(all, at::TensorOptions(at::kDouble)).view({1, -1, 1, 1});
}

}  // namespace

std::vector<PictureChoice> other_usual_pictures(const PictureChoice& given, int64_t channels) {
  constexpr int64_t kColours = 3;
  std::vector<PictureChoice> usual = {normalisation(1, {0}, {1}), normalisation(1, {0.5}, {0.5}),
                                      normalisation(255, {0}, {1})};
  if (channels == kColours) {
    usual.insert(usual.begin(), normalisation(1, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}));
    for (size_t i = 0, count = usual.size(); i < count; ++i) usual.push_back(with_colours_swapped(usual[i]));
    usual.insert(usual.begin(), with_colours_swapped(given));
  }
  std::vector<PictureChoice> others;
  for (const PictureChoice& choice : usual) {
    if (!is_same_normalisation(choice, given, channels)) others.push_back(choice);
  }
  return others;
}

std::string normalisation_text(const PictureChoice& choice) {
  const auto numbers = [](const std::vector<double>& values, double otherwise) {
    return values.empty() ? fmt::format("{:g}", otherwise) : fmt::format("{:g}", fmt::join(values, ","));
  };
  std::string text = fmt::format("--mean {} --std {}", numbers(choice.mean, 0), numbers(choice.std, 1));
  if (choice.pixel_max != 1) text += fmt::format(" --pixel-max {:g}", choice.pixel_max);
  return choice.is_bgr ? text + " --bgr" : text;
}

std::string other_pixels_warning(const PictureChoice& choice) {
  constexpr double kWidest = 256, kNarrowest = 0.1;  // pixels from 0 to 255 as they are; a tenth of 0 to 1
  if (choice.mean.empty() && choice.std.empty()) return "";
  const auto extreme = [](const std::vector<double>& values, double otherwise, bool is_largest) {
    if (values.empty()) return otherwise;
    return is_largest ? *std::max_element(values.begin(), values.end())
                      : *std::min_element(values.begin(), values.end());
  };
  const double width = choice.pixel_max / extreme(choice.std, 1, false);
  const double least_width = choice.pixel_max / extreme(choice.std, 1, true);
  const bool is_below_mean = extreme(choice.mean, 0, true) > choice.pixel_max;
  if (!is_below_mean && width <= kWidest && least_width >= kNarrowest) return "";
  const std::string advice = choice.pixel_max == 1 ? "give --pixel-max 255 if they are of pixels from 0 to 255"
                                                   : "leave --pixel-max out if they are of pixels from 0 to 1";
  return fmt::format("{}: pixels are 0 to {:g} here, so that the model gets {}; {}", normalisation_text(choice),
                     choice.pixel_max,
                     is_below_mean ? "numbers below 0 alone" : fmt::format("numbers {:.4g} apart", width), advice);
}

at::Tensor renormalised(const at::Tensor& picture, const PictureChoice& given, const PictureChoice& wanted) {
  at::Tensor pixels = (picture.to(at::kDouble) * by_channel(given.std, 1) + by_channel(given.mean, 0)) *
                      (wanted.pixel_max / given.pixel_max);
  if (given.is_bgr != wanted.is_bgr) pixels = pixels.flip(1);
  return ((pixels - by_channel(wanted.mean, 0)) / by_channel(wanted.std, 1)).to(at::kFloat).contiguous();
}

}  // namespace nnapi_convert
