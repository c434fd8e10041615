#include "lib/base/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"

namespace nnapi_convert::calibration {
namespace {

constexpr size_t kChannels = 3;

// The pixels that one is made of, and how much of each.
struct Blend {
  size_t first = 0;
  std::vector<float> shares;
};

std::vector<Blend> blends(size_t from, size_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(step, 1.0);
  std::vector<Blend> result;
  for (size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    const auto first = static_cast<size_t>(std::max(0.0, centre - reach + 0.5));
    const auto last = static_cast<size_t>(std::min(static_cast<double>(from), centre + reach + 0.5));
    Blend blend{first, {}};
    double sum = 0;
    for (size_t at = first; at < last; ++at) {
      const double distance = std::abs((static_cast<double>(at) - centre + 0.5) / reach);
      blend.shares.push_back(static_cast<float>(std::max(0.0, 1 - distance)));
      sum += static_cast<double>(blend.shares.back());
    }
    for (float& share : blend.shares) share = static_cast<float>(static_cast<double>(share) / sum);
    result.push_back(std::move(blend));
  }
  return result;
}

uint8_t to_byte(float value) {
  return static_cast<uint8_t>(std::min(255.0f, std::max(0.0f, std::round(value))));
}

Picture with_width(const Picture& picture, size_t width) {
  const std::vector<Blend> columns = blends(picture.width, width);
  Picture result{width, picture.height, std::vector<uint8_t>(width * picture.height * kChannels)};
  for (size_t y = 0; y < picture.height; ++y) {
    const uint8_t* row = picture.pixels.data() + y * picture.width * kChannels;
    uint8_t* out = result.pixels.data() + y * width * kChannels;
    for (const Blend& blend : columns) {
      for (size_t channel = 0; channel < kChannels; ++channel) {
        float sum = 0;
        for (size_t i = 0; i < blend.shares.size(); ++i) {
          sum += blend.shares[i] * static_cast<float>(row[(blend.first + i) * kChannels + channel]);
        }
        *out++ = to_byte(sum);
      }
    }
  }
  return result;
}

Picture with_height(const Picture& picture, size_t height) {
  const std::vector<Blend> rows = blends(picture.height, height);
  const size_t stride = picture.width * kChannels;
  Picture result{picture.width, height, std::vector<uint8_t>(stride * height)};
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < stride; ++x) {
      float sum = 0;
      for (size_t i = 0; i < rows[y].shares.size(); ++i) {
        sum += rows[y].shares[i] * static_cast<float>(picture.pixels[(rows[y].first + i) * stride + x]);
      }
      result.pixels[y * stride + x] = to_byte(sum);
    }
  }
  return result;
}

Picture middle(const Picture& picture, size_t side) {
  if (picture.width < side || picture.height < side) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("{}x{} pixels found, at least {}x{} needed to crop; use --resize", picture.width,
                                   picture.height, side, side));
  }
  const auto offset = [side](size_t size) {
    return static_cast<size_t>(std::lround(static_cast<double>(size - side) / 2));
  };
  const size_t left = offset(picture.width), top = offset(picture.height);
  Picture result{side, side, {}};
  for (size_t y = 0; y < side; ++y) {
    const auto begin =
        picture.pixels.begin() + static_cast<std::ptrdiff_t>(((top + y) * picture.width + left) * kChannels);
    result.pixels.insert(result.pixels.end(), begin, begin + static_cast<std::ptrdiff_t>(side * kChannels));
  }
  return result;
}

Picture with_shorter_side(const Picture& picture, size_t side) {
  const size_t shorter = std::min(picture.width, picture.height);
  const auto scaled = [&](size_t size) { return size == shorter ? side : std::max<size_t>(1, size * side / shorter); };
  return resized(picture, scaled(picture.width), scaled(picture.height));
}

Picture transformed(Picture picture, const PictureSize& size, const PictureOptions& options) {
  if (options.resize > 0) picture = with_shorter_side(picture, static_cast<size_t>(options.resize));
  if (options.crop > 0) picture = middle(picture, static_cast<size_t>(options.crop));
  const bool is_sized = options.resize > 0 || options.crop > 0;
  if (!is_sized && size.width > 0 && size.height > 0) {
    picture = resized(picture, static_cast<size_t>(size.width), static_cast<size_t>(size.height));
  }
  const bool fits = (size.width == 0 || static_cast<size_t>(size.width) == picture.width) &&
                    (size.height == 0 || static_cast<size_t>(size.height) == picture.height);
  if (fits) return picture;
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("{}x{} pixels found after --resize and --crop, {}x{} (width x height) needed",
                                 picture.width, picture.height, size.width, size.height));
}

double of_channel(const std::vector<double>& values, size_t channel, double otherwise) {
  if (values.empty()) return otherwise;
  return values[std::min(channel, values.size() - 1)];
}

// The byte of a pixel that a channel is; for one channel the brightness, as Pillow counts it.
double pixel_value(const uint8_t* pixel, size_t channel, size_t channels, bool is_bgr) {
  if (channels == 1) return std::floor((pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) / 65536.0);
  return pixel[is_bgr ? kChannels - 1 - channel : channel];
}

}  // namespace

Picture resized(const Picture& picture, size_t width, size_t height) {
  Picture result = picture;
  if (width != result.width) result = with_width(result, width);
  if (height != result.height) result = with_height(result, height);
  return result;
}

PictureTensor to_tensor(const Picture& picture, const PictureSize& size, const PictureOptions& options) {
  const Picture sized = transformed(picture, size, options);
  PictureTensor tensor{size.channels, static_cast<int64_t>(sized.height), static_cast<int64_t>(sized.width), {}};
  const auto channels = static_cast<size_t>(size.channels);
  const size_t count = sized.width * sized.height;
  tensor.values.reserve(count * channels);
  for (size_t channel = 0; channel < channels; ++channel) {
    const double mean = of_channel(options.mean, channel, 0), deviation = of_channel(options.std, channel, 1);
    for (size_t i = 0; i < count; ++i) {
      const double value = pixel_value(sized.pixels.data() + i * kChannels, channel, channels, options.is_bgr);
      tensor.values.push_back(static_cast<float>((value / 255 * options.pixel_max - mean) / deviation));
    }
  }
  return tensor;
}

}  // namespace nnapi_convert::calibration
