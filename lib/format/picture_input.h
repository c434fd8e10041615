// SPDX-License-Identifier: BSD-3-Clause
// Prepares a picture for a model's input: turns, resizes, crops and normalises it. The converter calibrates with this
// code, and the shim fills the model's input with it on the phone.
//
// Both have to give the same bytes on every processor and compiler. All arithmetic on pixels is therefore in integers.
// Floating-point numbers occur only in a table of 256 values, and each step of their computation is rounded by itself
// (value_of()).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace nnapi_convert::pictures {

constexpr size_t kChannels = 3;  // red, green, blue: the bytes of a pixel that was resized

// Copies of the picture's own pixels have a fourth byte without meaning, so that a pixel is written as one word.
constexpr size_t kCopiedBytes = 4;

// The preparation that a model's input needs. The picture is resized, its middle is cut out, and each channel becomes
// (pixel / 255 * pixel_max - mean) / std.
struct Preparation {
  uint32_t resize = 0;  // the shorter side becomes this; 0: none
  uint32_t crop = 0;    // the middle square of this side is cut out; 0: none
  double pixel_max = 1;
  double mean[kChannels] = {0, 0, 0}, std[kChannels] = {1, 1, 1};
  bool is_bgr = false;
};

// The place of a picture's pixels in memory: either one plane with 3 or 4 bytes for each pixel, red, green and blue
// first; or three planes (brightness, blue difference, red difference), the last two of half the width and height.
struct View {
  const uint8_t* planes[3] = {nullptr, nullptr, nullptr};
  size_t row_bytes[3] = {0, 0, 0}, pixel_bytes[3] = {0, 0, 0};  // from one row or pixel to the next
  bool is_yuv = false;
  // The part that is used, before it is turned, in pixels.
  uint32_t left = 0, top = 0, width = 0, height = 0;
  uint32_t quarter_turns = 0;  // clockwise, 0 to 3
  bool is_mirrored = false;    // left and right are swapped, after the turn

  bool is_upright() const { return quarter_turns % 2 == 0; }
  uint32_t turned_width() const { return is_upright() ? width : height; }
  uint32_t turned_height() const { return is_upright() ? height : width; }
};

struct Point {
  int64_t x = 0, y = 0;
};

// Maps a pixel of the part to its place in the turned and mirrored part. Pixels outside of the part are extrapolated.
inline Point turned(const View& view, Point pixel) {
  const int64_t right = int64_t{view.width} - 1 - pixel.x, below = int64_t{view.height} - 1 - pixel.y;
  const Point of_turns[] = {{pixel.x, pixel.y}, {below, pixel.x}, {right, below}, {pixel.y, right}};
  Point result = of_turns[view.quarter_turns % 4];
  if (view.is_mirrored) result.x = int64_t{view.turned_width()} - 1 - result.x;
  return result;
}

// Maps a point of the turned and mirrored part back to the whole picture. `edge` is 1 for pixels, and 0 for points
// between pixels, such as a box's corners.
template <typename Number>
void turn_back(const View& view, Number edge, Number* x, Number* y) {
  const auto width = static_cast<Number>(view.width), height = static_cast<Number>(view.height);
  const Number right = width - edge, below = height - edge, down = *y;
  const Number across = view.is_mirrored ? (view.is_upright() ? right : below) - *x : *x;
  const Number xs[] = {across, down, right - across, right - down};
  const Number ys[] = {down, below - across, below - down, across};
  *x = xs[view.quarter_turns % 4] + static_cast<Number>(view.left);
  *y = ys[view.quarter_turns % 4] + static_cast<Number>(view.top);
}

// Copies bytes that are `step` apart.
inline void gather(const uint8_t* from, size_t step, size_t count, uint8_t* to) {
  if (step == 1) {
    std::memcpy(to, from, count);
  } else if (step == 2) {  // a step that compilers know makes vector instructions
    for (size_t i = 0; i < count; ++i) to[i] = from[2 * i];
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = from[i * step];
  }
}

// Converts pixels of a row from YUV to RGB, up to kMost at a time, so that compilers vectorise the arithmetic. In full
// range BT.601, as JPEG and Android's cameras have it, red is y + 1.402 * (v - 128), green y - 0.344136 * (u - 128) -
// 0.714136 * (v - 128), blue y + 1.772 * (u - 128). As y is an integer, the term that is added to it can be rounded
// first.
class YuvPixels {
 public:
  static constexpr size_t kMost = 64;

  // Writes `count` pixels of kCopiedBytes, `step` bytes apart. Two pixels share one element of the planes u and v:
  // `first` is 1 where the first pixel is the second of its pair, else 0; `first` + `count` is at most kMost.
  void read(const View& view, const uint8_t* const planes[3], size_t first, size_t count, uint8_t* rgb,
            ptrdiff_t step) {
    const size_t pairs = (first + count + 1) / 2;
    gather(planes[0], view.pixel_bytes[0], count, y_ + first);
    gather(planes[1], view.pixel_bytes[1], pairs, u_);
    gather(planes[2], view.pixel_bytes[2], pairs, v_);
    add_differences();
    add_brightness();
    for (size_t i = first; i < first + count; ++i, rgb += step) std::memcpy(rgb, pixels_ + i, kCopiedBytes);
  }

 private:
  // All loops run over kMost pixels, also over unused ones, so that their length is a constant. Factors have 16 bits,
  // as processors multiply many such at once: a factor beyond 16 bits is split, and its rest is added as whole
  // differences.
  void add_differences() {
    constexpr int16_t kRed = 91881 - 65536, kGreenOfBlue = -22554, kGreenOfRed = 65536 - 46802, kBlue = 116130 - 131072;
    constexpr int32_t kHalf = 1 << 15, kBits = 16;
    for (size_t pair = 0; pair < kMost / 2; ++pair) {
      const auto u = static_cast<int16_t>(u_[pair] - 128), v = static_cast<int16_t>(v_[pair] - 128);
      const auto red = static_cast<int16_t>(((kRed * v + kHalf) >> kBits) + v);
      const auto green = static_cast<int16_t>(((kGreenOfBlue * u + kGreenOfRed * v + kHalf) >> kBits) - v);
      const auto blue = static_cast<int16_t>(((kBlue * u + kHalf) >> kBits) + 2 * u);
      add_red_[2 * pair] = add_red_[2 * pair + 1] = red;
      add_green_[2 * pair] = add_green_[2 * pair + 1] = green;
      add_blue_[2 * pair] = add_blue_[2 * pair + 1] = blue;
    }
  }
  // Red is the lowest byte of a word, and so the first in memory.
  void add_brightness() {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as on all of Android's processors");
    for (size_t i = 0; i < kMost; ++i) {
      const uint16_t red_green = sum(y_[i], add_red_[i]) | sum(y_[i], add_green_[i]) << 8;
      pixels_[i] = red_green | uint32_t{sum(y_[i], add_blue_[i])} << 16;
    }
  }
  static uint16_t sum(uint8_t brightness, int16_t added) {
    const auto value = static_cast<int16_t>(brightness + added);
    return static_cast<uint16_t>(std::min<int16_t>(255, std::max<int16_t>(0, value)));
  }

  uint8_t y_[kMost] = {}, u_[kMost / 2] = {}, v_[kMost / 2] = {};
  int16_t add_red_[kMost], add_green_[kMost], add_blue_[kMost];
  uint32_t pixels_[kMost];
};

// Copies `count` pixels of a row, starting at (x, y) of the whole picture; they are written `step` bytes apart.
inline void read_row(const View& view, size_t x, size_t y, size_t count, uint8_t* to, ptrdiff_t step) {
  const uint8_t* from = view.planes[0] + y * view.row_bytes[0] + x * view.pixel_bytes[0];
  if (!view.is_yuv) {
    for (size_t i = 0; i < count; ++i, to += step, from += view.pixel_bytes[0]) {
      const uint8_t pixel[kCopiedBytes] = {from[0], from[1], from[2], 0};
      std::memcpy(to, pixel, kCopiedBytes);
    }
    return;
  }
  YuvPixels pixels;
  while (count > 0) {
    const size_t first = x % 2, some = std::min(count, YuvPixels::kMost - first);
    const uint8_t* const planes[] = {view.planes[0] + y * view.row_bytes[0] + x * view.pixel_bytes[0],
                                     view.planes[1] + y / 2 * view.row_bytes[1] + x / 2 * view.pixel_bytes[1],
                                     view.planes[2] + y / 2 * view.row_bytes[2] + x / 2 * view.pixel_bytes[2]};
    pixels.read(view, planes, first, some, to, step);
    x += some;
    count -= some;
    to += static_cast<ptrdiff_t>(some) * step;
  }
}

// Copies a rectangle of the turned part to rows of pixels of kCopiedBytes without gaps. Reads along the picture's own
// rows.
inline void read_rows(const View& view, Point first, size_t width, size_t height, uint8_t* to) {
  Point begin = first, end{first.x + static_cast<int64_t>(width) - 1, first.y + static_cast<int64_t>(height) - 1};
  turn_back<int64_t>(view, 1, &begin.x, &begin.y);
  turn_back<int64_t>(view, 1, &end.x, &end.y);
  if (end.x < begin.x) std::swap(begin.x, end.x);
  if (end.y < begin.y) std::swap(begin.y, end.y);
  const auto place_of = [&](int64_t x, int64_t y) {
    const Point point = turned(view, {x - view.left, y - view.top});
    const int64_t pixel = (point.y - first.y) * static_cast<int64_t>(width) + point.x - first.x;
    return static_cast<ptrdiff_t>(pixel * static_cast<int64_t>(kCopiedBytes));
  };
  const ptrdiff_t begins = place_of(begin.x, begin.y), step = place_of(begin.x + 1, begin.y) - begins;
  for (int64_t y = begin.y; y <= end.y; ++y) {
    read_row(view, static_cast<size_t>(begin.x), static_cast<size_t>(y), static_cast<size_t>(end.x - begin.x + 1),
             to + place_of(begin.x, y), step);
  }
}

// The weights of a row's (or column's) pixels in each pixel of the resized row.
struct Filter {
  struct Taps {
    uint32_t first = 0, count = 0;  // pixels
    size_t weights = 0;             // where the weights of these pixels begin
  };
  std::vector<Taps> taps;
  std::vector<int16_t> weights;  // the sum of each pixel's is kOne
  uint32_t most_taps = 0;

  static constexpr int kBits = 14;  // fits into 16 bits, of which processors multiply many at once
  static constexpr int32_t kOne = 1 << kBits, kHalf = kOne / 2;

  size_t first_pixel() const { return taps.front().first; }
  size_t end_pixel() const { return taps.back().first + taps.back().count; }
};

// Returns Pillow's bilinear filter: a triangle as wide as the source pixels that one resized pixel covers. `size`
// pixels become `resized`, of which the `count` from `first` on are wanted. Distances are in units of 1 / (2 * resized)
// pixels, so that they are integers.
inline Filter filter_of(uint32_t size, uint32_t resized, uint32_t first, uint32_t count) {
  Filter filter;
  const int64_t unit = int64_t{resized} * 2, reach = 2 * int64_t{std::max(size, resized)};
  filter.taps.reserve(count);
  for (int64_t i = first; i < int64_t{first} + count; ++i) {
    const int64_t centre = (2 * i + 1) * size;
    const int64_t begin = std::max<int64_t>(0, (centre - reach + resized) / unit);
    const int64_t end = std::min<int64_t>(size, (centre + reach + resized) / unit);
    const auto share = [&](int64_t at) {
      const int64_t distance = (2 * at + 1) * resized - centre;
      return std::max<int64_t>(0, reach - (distance < 0 ? -distance : distance));
    };
    int64_t sum = 0, total = 0;
    for (int64_t at = begin; at < end; ++at) sum += share(at);
    filter.taps.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin), filter.weights.size()});
    filter.most_taps = std::max(filter.most_taps, filter.taps.back().count);
    filter.weights.resize(filter.weights.size() + filter.taps.back().count);
    int16_t* weight = filter.weights.data() + filter.taps.back().weights;
    for (int64_t at = begin; at < end; ++at) {  // rounds the totals, so that the last one is exact
      const int64_t before = (total * Filter::kOne + sum / 2) / sum;
      total += share(at);
      *weight++ = static_cast<int16_t>((total * Filter::kOne + sum / 2) / sum - before);
    }
  }
  return filter;
}

// Resizes a row whose pixels are `step` bytes apart; `row` is the filter's first pixel.
inline void resize_row(const uint8_t* row, size_t step, const Filter& filter, uint8_t* to) {
  const size_t first = filter.first_pixel();
  for (const Filter::Taps& taps : filter.taps) {
    const int16_t* weight = filter.weights.data() + taps.weights;
    const uint8_t* pixel = row + (taps.first - first) * step;
    int32_t red = Filter::kHalf, green = Filter::kHalf, blue = Filter::kHalf;
    for (const int16_t* end = weight + taps.count; weight != end; ++weight, pixel += step) {
      red += *weight * pixel[0];
      green += *weight * pixel[1];
      blue += *weight * pixel[2];
    }
    to[0] = static_cast<uint8_t>(red >> Filter::kBits);
    to[1] = static_cast<uint8_t>(green >> Filter::kBits);
    to[2] = static_cast<uint8_t>(blue >> Filter::kBits);
    to += kChannels;
  }
}

// The rows of a rectangle of the turned part. Reads them in the picture itself if possible, else copies some of them at
// a time.
class Rows {
 public:
  Rows(const View& view, size_t left, size_t width, size_t most_rows)
      : view_(view),
        left_(left),
        width_(width),
        is_direct_(!view.is_yuv && !view.is_mirrored && view.quarter_turns == 0) {
    if (!is_direct_) copy_.resize((most_rows + kRowsAtOnce) * stride());
  }

  size_t pixel_bytes() const { return is_direct_ ? view_.pixel_bytes[0] : kCopiedBytes; }
  size_t row_bytes() const { return (width_ - 1) * pixel_bytes() + kChannels; }

  // Returns row `first`, and makes the rows up to `end` ready. `first` does not fall from call to call.
  const uint8_t* get(size_t first, size_t end) {
    if (is_direct_) {
      return view_.planes[0] + (view_.top + first) * view_.row_bytes[0] + (view_.left + left_) * view_.pixel_bytes[0];
    }
    if (end > end_) {
      const size_t kept = end_ > first ? end_ - first : 0;
      if (kept > 0) std::memmove(copy_.data(), copy_.data() + (first - begin_) * stride(), kept * stride());
      begin_ = first;
      const size_t read = first + kept, count = std::min(size_t{view_.turned_height()}, end + kRowsAtOnce - 1) - read;
      read_rows(view_, {static_cast<int64_t>(left_), static_cast<int64_t>(read)}, width_, count,
                copy_.data() + kept * stride());
      end_ = read + count;
    }
    return copy_.data() + (first - begin_) * stride();
  }
  size_t stride() const { return is_direct_ ? view_.row_bytes[0] : width_ * kCopiedBytes; }

 private:
  static constexpr size_t kRowsAtOnce = 192;  // columns of the picture if it is turned

  const View& view_;
  const size_t left_, width_;
  const bool is_direct_;
  std::vector<uint8_t> copy_;
  size_t begin_ = 0, end_ = 0;  // rows of the copy
};

// Adds a row to sums.
inline void add_row(const uint8_t* row, int16_t weight, size_t count, int32_t* sums) {
  for (size_t i = 0; i < count; ++i) sums[i] += static_cast<int16_t>(row[i]) * weight;
}

// The sizes of a turned picture before and after it is resized, and the part of the result that the model gets.
struct Placement {
  uint32_t from_width = 0, from_height = 0;
  uint32_t resized_width = 0, resized_height = 0;     // the whole picture
  uint32_t left = 0, top = 0, width = 0, height = 0;  // the part of it that the model gets
};

enum class Fit {
  kFits,
  kTooSmall,   // the resized picture is smaller than the square that is cut out; the placement has its size
  kOtherSize,  // the model needs another size than the placement's
  kTooLarge,   // the picture, resized, takes too much memory
};

constexpr uint64_t kMostSide = uint64_t{1} << 24, kMostBytes = uint64_t{1} << 30;

// Returns half of a number; of an odd number the half is rounded to the even neighbour. torchvision's CenterCrop cuts
// off so many pixels at the left and at the top.
constexpr uint64_t half_to_even(uint64_t number) {
  const uint64_t half = number / 2;
  return half + (number & half & 1);
}

// Computes the placement of a picture, which must not be empty. Without resize and crop it is stretched to the model's
// size; 0 is a free size.
inline Fit place(uint32_t from_width, uint32_t from_height, const Preparation& how, uint32_t model_width,
                 uint32_t model_height, Placement* place) {
  const uint64_t shorter = std::min(from_width, from_height);
  const auto resized = [&](uint32_t size) -> uint64_t {
    if (how.resize == 0 || size == 0) return size;
    return size == shorter ? how.resize : std::max<uint64_t>(1, uint64_t{size} * how.resize / shorter);
  };
  uint64_t width = resized(from_width), height = resized(from_height);
  const bool is_stretched = how.resize == 0 && how.crop == 0 && model_width > 0 && model_height > 0;
  if (is_stretched) {
    width = model_width;
    height = model_height;
  }
  if (width > kMostSide * 16 || height > kMostSide * 16) return Fit::kTooLarge;
  *place = {from_width, from_height, static_cast<uint32_t>(width), static_cast<uint32_t>(height),
            0,          0,           static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
  if (how.crop > 0) {
    if (width < how.crop || height < how.crop) return Fit::kTooSmall;
    place->left = static_cast<uint32_t>(half_to_even(width - how.crop));
    place->top = static_cast<uint32_t>(half_to_even(height - how.crop));
    place->width = place->height = how.crop;
  }
  const bool fits =
      (model_width == 0 || model_width == place->width) && (model_height == 0 || model_height == place->height);
  if (!fits) return Fit::kOtherSize;
  const uint64_t row_bytes = uint64_t{place->width} * kChannels;
  const bool is_large = row_bytes > kMostBytes / place->height;
  return is_large ? Fit::kTooLarge : Fit::kFits;
}

// Resizes the picture to `to`, which has width * height pixels of the placement: each row is first combined of the
// picture's rows, then its pixels are resized.
inline void resize(const View& view, const Placement& place, uint8_t* to) {
  const Filter columns = filter_of(place.from_width, place.resized_width, place.left, place.width);
  const Filter rows = filter_of(place.from_height, place.resized_height, place.top, place.height);
  const size_t left = columns.first_pixel();
  Rows from(view, left, columns.end_pixel() - left, rows.most_taps);
  const size_t row_bytes = from.row_bytes();
  std::vector<int32_t> sums(row_bytes);
  std::vector<uint8_t> row(row_bytes);
  for (const Filter::Taps& taps : rows.taps) {
    const uint8_t* next = from.get(taps.first, taps.first + taps.count);
    std::fill(sums.begin(), sums.end(), Filter::kHalf);
    for (size_t i = 0; i < taps.count; ++i, next += from.stride()) {
      add_row(next, rows.weights[taps.weights + i], row_bytes, sums.data());
    }
    for (size_t i = 0; i < row_bytes; ++i) row[i] = static_cast<uint8_t>(sums[i] >> Filter::kBits);
    resize_row(row.data(), from.pixel_bytes(), columns, to);
    to += size_t{place.width} * kChannels;
  }
}

// Returns a pixel's brightness, as Pillow computes it.
inline uint8_t brightness(const uint8_t* pixel) {
  constexpr uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471;
  return static_cast<uint8_t>((pixel[0] * kRed + pixel[1] * kGreen + pixel[2] * kBlue + 0x8000) >> 16);
}

// Returns the number that a channel of the model gets for a byte. Each step is stored in a volatile variable, as a
// compiler may fuse a product and a difference into one instruction that rounds once.
inline float value_of(uint32_t byte, const Preparation& how, size_t channel) {
  volatile double step = byte / 255.0;
  step = step * how.pixel_max;
  step = step - how.mean[channel];
  step = step / how.std[channel];
  return static_cast<float>(step);
}

// A channel's number for each value of a byte.
using Values = std::array<float, 256>;
inline Values values_of(const Preparation& how, size_t channel) {
  Values values;
  for (uint32_t byte = 0; byte < values.size(); ++byte) values[byte] = value_of(byte, how, channel);
  return values;
}

// Calls `write` with each pixel's byte for the model's channel number `channel`; a model of one channel gets
// brightness.
template <typename Write>
void each_byte(const uint8_t* pixels, size_t count, size_t channel, size_t channels, bool is_bgr, const Write& write) {
  if (channels == 1) {
    for (size_t i = 0; i < count; ++i) write(i, brightness(pixels + i * kChannels));
    return;
  }
  const size_t place = is_bgr ? kChannels - 1 - channel : channel;
  for (size_t i = 0; i < count; ++i) write(i, pixels[i * kChannels + place]);
}

}  // namespace nnapi_convert::pictures
