// SPDX-License-Identifier: BSD-3-Clause
// Pictures as inputs of a model: the resampling beside its definition in floating-point numbers, turned pictures beside
// pictures that a test turned itself, YUV beside BT.601, and what is refused.
#include "lib/shim/picture.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/attachments.h"

using namespace nnapi_shim;
using Catch::Contains;
using nnapi_convert::OperandCode;

namespace {

struct Pixels {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> bytes;  // rows of red, green, blue

  const uint8_t* at(size_t x, size_t y) const { return &bytes[(y * width + x) * 3]; }
};

// Squares of colours: smooth parts and edges.
Pixels random_pixels(uint32_t width, uint32_t height, uint32_t seed) {
  std::mt19937 random(seed);
  const uint32_t side = 1 + random() % 9;
  std::vector<uint8_t> colours(size_t{width / side + 1} * (height / side + 1) * 3);
  for (uint8_t& each : colours) each = static_cast<uint8_t>(random());
  Pixels pixels{width, height, std::vector<uint8_t>(size_t{width} * height * 3)};
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      for (size_t channel = 0; channel < 3; ++channel) {
        pixels.bytes[(y * width + x) * 3 + channel] = colours[(y / side * (width / side + 1) + x / side) * 3 + channel];
      }
    }
  }
  return pixels;
}

nnapi_shim_picture picture_of(const Pixels& pixels) {
  nnapi_shim_picture picture = {};
  picture.struct_bytes = sizeof picture;
  picture.width = pixels.width;
  picture.height = pixels.height;
  picture.planes[0] = pixels.bytes.data();
  picture.plane_bytes[0] = pixels.bytes.size();
  return picture;
}

nnapi_shim_tensor tensor_of(uint32_t height, uint32_t width, bool is_nhwc, OperandCode type) {
  nnapi_shim_tensor tensor = {};
  tensor.type = static_cast<int32_t>(type);
  tensor.rank = 4;
  const uint32_t nhwc[] = {1, height, width, 3}, nchw[] = {1, 3, height, width};
  std::copy_n(is_nhwc ? nhwc : nchw, 4, tensor.sizes);
  tensor.is_nhwc = is_nhwc ? 1 : 0;
  return tensor;
}

// Pixels of 0 to 255 in NHWC, without resize and crop.
PictureRecord plain() {
  PictureRecord record;
  record.pixel_max = 255;
  return record;
}

std::vector<float> filled(const PictureRecord& record, const nnapi_shim_picture& picture, uint32_t height,
                          uint32_t width, bool is_nhwc = true) {
  std::vector<float> values(size_t{height} * width * 3);
  nnapi_shim_error error = {};
  const int status = fill_picture(record, picture, tensor_of(height, width, is_nhwc, OperandCode::TENSOR_FLOAT32),
                                  values.data(), values.size() * sizeof(float), &error);
  INFO(error.message);
  REQUIRE(status == NNAPI_SHIM_OK);
  return values;
}

// The definition: a triangle as wide as what a pixel stands for, of both axes at once.
std::vector<double> resized(const Pixels& pixels, uint32_t height, uint32_t width) {
  const auto shares = [](uint32_t from, uint32_t to, uint32_t at) {
    const double step = static_cast<double>(from) / to, reach = std::max(step, 1.0), centre = (at + 0.5) * step;
    std::vector<double> result(from);
    double sum = 0;
    for (uint32_t i = 0; i < from; ++i) {
      result[i] = std::max(0.0, 1 - std::abs(i + 0.5 - centre) / reach);
      sum += result[i];
    }
    for (double& each : result) each /= sum;
    return result;
  };
  std::vector<double> narrowed(size_t{pixels.height} * width * 3), result(size_t{height} * width * 3);
  for (uint32_t x = 0; x < width; ++x) {
    const std::vector<double> share = shares(pixels.width, width, x);
    for (size_t y = 0; y < pixels.height; ++y) {
      for (size_t i = 0; i < pixels.width; ++i) {
        for (size_t c = 0; c < 3; ++c) narrowed[(y * width + x) * 3 + c] += share[i] * pixels.at(i, y)[c];
      }
    }
  }
  for (uint32_t y = 0; y < height; ++y) {
    const std::vector<double> share = shares(pixels.height, height, y);
    for (size_t i = 0; i < pixels.height; ++i) {
      for (size_t x = 0; x < size_t{width} * 3; ++x) {
        result[size_t{y} * width * 3 + x] += share[i] * narrowed[i * width * 3 + x];
      }
    }
  }
  return result;
}

// Turned clockwise by quarters, then mirrored.
Pixels turned(const Pixels& pixels, int quarters, bool is_mirrored) {
  Pixels from = pixels;
  for (int i = 0; i < quarters; ++i) {
    Pixels to{from.height, from.width, std::vector<uint8_t>(from.bytes.size())};
    for (uint32_t y = 0; y < from.height; ++y) {
      for (uint32_t x = 0; x < from.width; ++x) {
        std::copy_n(from.at(x, y), 3, &to.bytes[(size_t{x} * to.width + (to.width - 1 - y)) * 3]);
      }
    }
    from = to;
  }
  if (!is_mirrored) return from;
  Pixels to = from;
  for (uint32_t y = 0; y < from.height; ++y) {
    for (uint32_t x = 0; x < from.width; ++x) {
      std::copy_n(from.at(x, y), 3, &to.bytes[(size_t{y} * to.width + (to.width - 1 - x)) * 3]);
    }
  }
  return to;
}

std::string refusal(const PictureRecord& record, const nnapi_shim_picture& picture, const nnapi_shim_tensor& tensor,
                    size_t bytes) {
  std::vector<uint8_t> memory(bytes + 1, 0x5a);
  nnapi_shim_error error = {};
  CHECK(fill_picture(record, picture, tensor, memory.data(), bytes, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(std::all_of(memory.begin(), memory.end(), [](uint8_t byte) { return byte == 0x5a; }));
  return error.message;
}

}  // namespace

TEST_CASE("a resized picture is the definition's, to one of 255") {
  const uint32_t sizes[][4] = {{50, 40, 32, 32}, {20, 30, 41, 57}, {64, 64, 64, 64}, {1, 90, 7, 3}, {200, 3, 5, 16}};
  for (const auto& [width, height, to_width, to_height] : sizes) {
    const Pixels pixels = random_pixels(width, height, width);
    const std::vector<float> found = filled(plain(), picture_of(pixels), to_height, to_width);
    const std::vector<double> expected = resized(pixels, to_height, to_width);
    double worst = 0;
    for (size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] - expected[i]));
    CHECK(worst <= 1.02);
    if (width == to_width) CHECK(worst == 0);
  }
}

TEST_CASE("one colour stays one colour in every size") {
  Pixels pixels{97, 61, std::vector<uint8_t>(size_t{97} * 61 * 3, 201)};
  for (const uint32_t side : {1u, 3u, 40u, 61u, 200u}) {
    const std::vector<float> found = filled(plain(), picture_of(pixels), side, side);
    CHECK(std::all_of(found.begin(), found.end(), [](float value) { return value == 201; }));
  }
}

TEST_CASE("resize, crop and the channels' numbers") {
  const Pixels pixels = random_pixels(83, 57, 5);
  PictureRecord record;
  record.resize = 40;
  record.crop = 32;
  record.mean[0] = 0.485, record.mean[1] = 0.456, record.mean[2] = 0.406;
  record.std[0] = 0.229, record.std[1] = 0.224, record.std[2] = 0.225;
  const std::vector<double> all = resized(pixels, 40, 83 * 40 / 57);
  const std::vector<float> found = filled(record, picture_of(pixels), 32, 32, false);
  const size_t width = 83 * 40 / 57, left = (width - 32 + 1) / 2, top = 4;
  double worst = 0;
  for (size_t c = 0; c < 3; ++c) {
    for (size_t y = 0; y < 32; ++y) {
      for (size_t x = 0; x < 32; ++x) {
        const double value = static_cast<double>(found[(c * 32 + y) * 32 + x]) * record.std[c] + record.mean[c];
        worst = std::max(worst, std::abs(value * 255 - all[((top + y) * width + left + x) * 3 + c]));
      }
    }
  }
  CHECK(worst <= 1.02);
  record.flags = nnapi_convert::picture_record::kBgr;
  std::copy_n(&record.mean[1], 1, &record.mean[0]);
  const std::vector<float> swapped = filled(record, picture_of(pixels), 32, 32, false);
  const double back = static_cast<double>(found[2 * 1024]) * 0.225 + 0.406;
  CHECK(std::abs(static_cast<double>(swapped[0]) - (back - 0.456) / 0.229) < 1e-6);
}

TEST_CASE("turned, mirrored and cut pictures are those that were turned, mirrored and cut before") {
  const Pixels whole = random_pixels(53, 38, 9);
  PictureRecord record = plain();
  record.resize = 24;
  record.crop = 20;
  Pixels part{31, 29, {}};
  for (size_t y = 0; y < 29; ++y) part.bytes.insert(part.bytes.end(), whole.at(7, y + 4), whole.at(7, y + 4) + 31 * 3);
  Pixels with_alpha = whole;
  with_alpha.bytes.clear();
  for (size_t i = 0; i < whole.bytes.size(); i += 3) {
    with_alpha.bytes.insert(with_alpha.bytes.end(), {whole.bytes[i], whole.bytes[i + 1], whole.bytes[i + 2], 77});
  }
  for (int quarters = 0; quarters < 4; ++quarters) {
    for (const bool is_mirrored : {false, true}) {
      nnapi_shim_picture picture = picture_of(whole);
      picture.rotation = quarters * 90;
      picture.is_mirrored = is_mirrored ? 1 : 0;
      CHECK(filled(record, picture, 20, 20) ==
            filled(record, picture_of(turned(whole, quarters, is_mirrored)), 20, 20));
      picture.cut_left = 7, picture.cut_top = 4, picture.cut_width = 31, picture.cut_height = 29;
      const std::vector<float> expected = filled(record, picture_of(turned(part, quarters, is_mirrored)), 20, 20);
      CHECK(filled(record, picture, 20, 20) == expected);
      picture.pixels = NNAPI_SHIM_RGBA;
      picture.planes[0] = with_alpha.bytes.data();
      picture.plane_bytes[0] = with_alpha.bytes.size();
      CHECK(filled(record, picture, 20, 20) == expected);
    }
  }
}

TEST_CASE("YUV is full range BT.601, to one of 255, in planes and in pairs") {
  const uint32_t width = 299, height = 23, half_width = 150, half_height = 12;
  std::mt19937 random(3);
  std::vector<uint8_t> y(width * height), u(half_width * half_height), v(u.size()), pairs;
  for (auto* plane : {&y, &u, &v}) {
    for (uint8_t& each : *plane) each = static_cast<uint8_t>(random());
  }
  for (size_t i = 0; i < u.size(); ++i) pairs.insert(pairs.end(), {v[i], u[i]});  // NV21
  nnapi_shim_picture picture = {};
  picture.struct_bytes = sizeof picture;
  picture.pixels = NNAPI_SHIM_YUV_420;
  picture.width = width;
  picture.height = height;
  picture.planes[0] = y.data(), picture.planes[1] = u.data(), picture.planes[2] = v.data();
  picture.plane_bytes[0] = y.size(), picture.plane_bytes[1] = picture.plane_bytes[2] = u.size();
  const std::vector<float> found = filled(plain(), picture, height, width);
  Pixels rgb{width, height, {}};
  double worst = 0;
  for (size_t row = 0; row < height; ++row) {
    for (size_t column = 0; column < width; ++column) {
      const size_t at = row / 2 * half_width + column / 2;
      const double luma = y[row * width + column], blue = u[at] - 128.0, red = v[at] - 128.0;
      const double expected[] = {luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue};
      for (size_t c = 0; c < 3; ++c) {
        const float value = found[(row * width + column) * 3 + c];
        worst = std::max(worst, std::abs(value - std::min(255.0, std::max(0.0, expected[c]))));
        rgb.bytes.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  CHECK(worst <= 1);
  picture.planes[1] = pairs.data() + 1, picture.planes[2] = pairs.data();
  picture.pixel_bytes[1] = picture.pixel_bytes[2] = 2;
  picture.row_bytes[1] = picture.row_bytes[2] = size_t{half_width} * 2;
  picture.plane_bytes[1] = pairs.size() - 1, picture.plane_bytes[2] = pairs.size();
  CHECK(filled(plain(), picture, height, width) == found);
  picture.cut_left = 3, picture.cut_top = 5, picture.cut_width = 261, picture.cut_height = 16;  // odd: within a pair
  nnapi_shim_picture same = picture_of(rgb);
  same.cut_left = 3, same.cut_top = 5, same.cut_width = 261, same.cut_height = 16;
  for (const int rotation : {0, 90, 180, 270}) {
    picture.rotation = same.rotation = rotation;
    CHECK(filled(plain(), picture, 11, 13) == filled(plain(), same, 11, 13));
  }
}

TEST_CASE("integer inputs are the floats, quantised as PyTorch does; bytes of pixels are as they are") {
  const Pixels pixels = random_pixels(40, 40, 8);
  PictureRecord record;
  record.mean[0] = record.mean[1] = record.mean[2] = 0.5;
  record.std[0] = record.std[1] = record.std[2] = 0.25;
  const std::vector<float> floats = filled(record, picture_of(pixels), 16, 16);
  for (const bool is_signed : {false, true}) {
    nnapi_shim_tensor tensor =
        tensor_of(16, 16, true, is_signed ? OperandCode::TENSOR_QUANT8_ASYMM_SIGNED : OperandCode::TENSOR_QUANT8_ASYMM);
    tensor.scale = 0.0031f;  // so that the ends are cut off
    tensor.zero_point = is_signed ? -3 : 125;
    std::vector<uint8_t> found(floats.size());
    nnapi_shim_error error = {};
    REQUIRE(fill_picture(record, picture_of(pixels), tensor, found.data(), found.size(), &error) == NNAPI_SHIM_OK);
    size_t wrong = 0, at_end = 0;
    for (size_t i = 0; i < floats.size(); ++i) {
      const float low = is_signed ? -128 : 0, high = low + 255;
      const float number = std::nearbyint(floats[i] * (1.0f / 0.0031f)) + static_cast<float>(tensor.zero_point);
      const float expected = std::min(high, std::max(low, number));
      const int byte = is_signed ? static_cast<int8_t>(found[i]) : found[i];
      wrong += static_cast<float>(byte) != expected ? 1 : 0;
      at_end += number != expected ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(at_end > 0);
  }
  PictureRecord bytes;
  bytes.flags = nnapi_convert::picture_record::kBytes;
  bytes.channels = 4;
  nnapi_shim_tensor tensor = picture_tensor(bytes);
  tensor.sizes[1] = tensor.sizes[2] = 40;
  std::vector<uint8_t> found(size_t{40} * 40 * 4);
  REQUIRE(fill_picture(bytes, picture_of(pixels), tensor, found.data(), found.size(), nullptr) == NNAPI_SHIM_OK);
  bool is_same = true;
  for (size_t i = 0; i < size_t{40} * 40; ++i) {
    is_same =
        is_same && std::equal(&pixels.bytes[i * 3], &pixels.bytes[i * 3] + 3, &found[i * 4]) && found[i * 4 + 3] == 255;
  }
  CHECK(is_same);
}

TEST_CASE("boxes come back to the picture's own coordinates") {
  PictureRecord record = plain();
  record.resize = 48;
  record.crop = 40;
  const nnapi_shim_tensor tensor = tensor_of(40, 40, true, OperandCode::TENSOR_FLOAT32);
  for (int rotation = 0; rotation < 360; rotation += 90) {
    for (const int32_t is_mirrored : {0, 1}) {
      // A white rectangle within the part that is used.
      Pixels pixels{320, 240, std::vector<uint8_t>(size_t{320} * 240 * 3)};
      for (size_t y = 100; y < 160; ++y) std::fill_n(&pixels.bytes[(y * 320 + 120) * 3], 80 * 3, uint8_t{255});
      nnapi_shim_picture picture = picture_of(pixels);
      picture.rotation = rotation;
      picture.is_mirrored = is_mirrored;
      picture.cut_left = 40, picture.cut_top = 20, picture.cut_width = 240, picture.cut_height = 200;
      const std::vector<float> found = filled(record, picture, 40, 40);
      float box[4] = {40, 40, 0, 0};
      for (size_t y = 0; y < 40; ++y) {
        for (size_t x = 0; x < 40; ++x) {
          if (found[(y * 40 + x) * 3] < 128) continue;
          box[0] = std::min(box[0], static_cast<float>(x));
          box[1] = std::min(box[1], static_cast<float>(y));
          box[2] = std::max(box[2], static_cast<float>(x + 1));
          box[3] = std::max(box[3], static_cast<float>(y + 1));
        }
      }
      REQUIRE(boxes_of_picture(record, picture, tensor, box, 1, nullptr) == NNAPI_SHIM_OK);
      const float expected[] = {120, 100, 200, 160};
      for (size_t i = 0; i < 4; ++i) CHECK(std::abs(box[i] - expected[i]) <= 200.0f / 48);
    }
  }
}

TEST_CASE("pictures and inputs that don't fit are refused") {
  const Pixels pixels = random_pixels(40, 30, 1);
  const nnapi_shim_picture good = picture_of(pixels);
  const nnapi_shim_tensor tensor = tensor_of(8, 8, true, OperandCode::TENSOR_FLOAT32);
  constexpr size_t kBytes = 8 * 8 * 3 * sizeof(float);
  const auto change = [&](const auto& edit) {
    nnapi_shim_picture picture = good;
    edit(picture);
    return refusal(plain(), picture, tensor, kBytes);
  };
  CHECK_THAT(change([](auto& picture) { picture.struct_bytes = 8; }), Contains("struct_bytes 8"));
  CHECK_THAT(change([](auto& picture) { picture.width = 0; }), Contains("a side of 0"));
  CHECK_THAT(change([](auto& picture) { picture.height = 1u << 31; }), Contains("a side of 2147483648"));
  CHECK_THAT(change([](auto& picture) { picture.plane_bytes[0] -= 1; }), Contains("3599 bytes found, 3600 needed"));
  CHECK_THAT(change([](auto& picture) { picture.planes[0] = nullptr; }), Contains("0 bytes found"));
  CHECK_THAT(change([](auto& picture) { picture.row_bytes[0] = 119; }), Contains("119 from row to row"));
  CHECK_THAT(change([](auto& picture) { picture.row_bytes[0] = SIZE_MAX; }), Contains("fewer bytes"));
  CHECK_THAT(change([](auto& picture) { picture.pixel_bytes[0] = 2; }), Contains("2 bytes from pixel to pixel"));
  CHECK_THAT(change([](auto& picture) { picture.pixel_bytes[0] = SIZE_MAX; }), Contains("fewer bytes"));
  CHECK_THAT(change([](auto& picture) { picture.pixels = NNAPI_SHIM_RGBA; }), Contains("4800 needed"));
  CHECK_THAT(change([](auto& picture) { picture.pixels = NNAPI_SHIM_YUV_420; }), Contains("plane 1: 0 bytes found"));
  CHECK_THAT(change([](auto& picture) { picture.pixels = 9; }), Contains("pixels 9"));
  CHECK_THAT(change([](auto& picture) { picture.rotation = 45; }), Contains("rotation 45"));
  CHECK_THAT(change([](auto& picture) { picture.rotation = -90; }), Contains("rotation -90"));
  CHECK_THAT(change([](auto& picture) { picture.cut_left = 1; }), Contains("rectangle 0 x 30 at 1, 0"));
  CHECK_THAT(change([](auto& picture) { picture.cut_width = 41, picture.cut_height = 3; }),
             Contains("rectangle 41 x 3"));
  CHECK_THAT(change([](auto& picture) { picture.cut_left = UINT32_MAX, picture.cut_width = picture.cut_height = 2; }),
             Contains("rectangle 2 x 2"));
  CHECK_THAT(refusal(plain(), good, tensor, kBytes - 1), Contains("767 bytes found, 768 needed"));
  CHECK_THAT(refusal(plain(), good, tensor_of(8, 8, true, OperandCode::TENSOR_INT32), kBytes),
             Contains("type 4 found"));
  CHECK_THAT(refusal(plain(), good, tensor_of(8, 8, true, OperandCode::TENSOR_QUANT8_ASYMM), 192),
             Contains("with a scale"));
  CHECK_THAT(refusal(plain(), good, tensor_of(0, 8, true, OperandCode::TENSOR_FLOAT32), 0), Contains("known sizes"));
  nnapi_shim_tensor two = tensor;
  two.sizes[0] = 2;
  CHECK_THAT(refusal(plain(), good, two, 2 * kBytes), Contains("a batch of 1"));
  PictureRecord record = plain();
  record.crop = 31;
  CHECK_THAT(refusal(record, good, tensor, kBytes), Contains("at least 31 x 31 needed"));
  record.crop = 12;
  CHECK_THAT(refusal(record, good, tensor, kBytes), Contains("become 12 x 12"));
}

TEST_CASE("a damaged record leads to no byte that isn't there") {
  PictureRecord record;
  record.resize = 256;
  const std::string good(reinterpret_cast<const char*>(&record), sizeof record);
  const Pixels pixels = random_pixels(24, 18, 2);
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = good;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    Attachments attachments;
    if (attachments.read({damaged, "", ""}, nullptr) != NNAPI_SHIM_OK) continue;
    std::vector<uint8_t> memory(size_t{8} * 8 * 3 * sizeof(float));
    fill_picture(attachments.pictures, picture_of(pixels), tensor_of(8, 8, true, OperandCode::TENSOR_FLOAT32),
                 memory.data(), memory.size(), nullptr);
  }
}

TEST_CASE("random descriptions of pictures are taken or refused, and read no byte that isn't there") {
  std::mt19937 random(4);
  int taken = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto small = [&](uint32_t most) { return static_cast<uint32_t>(random() % most); };
    nnapi_shim_picture picture = {};
    picture.struct_bytes = sizeof picture;
    picture.pixels = static_cast<int32_t>(small(3));
    picture.width = small(12);
    picture.height = small(12);
    std::vector<std::vector<uint8_t>> planes;
    for (size_t plane = 0; plane < 3; ++plane) {
      planes.emplace_back(small(900), uint8_t{5});
      picture.planes[plane] = planes.back().data();
      picture.plane_bytes[plane] = planes.back().size();
      picture.row_bytes[plane] = small(2) != 0 ? small(60) : 0;
      picture.pixel_bytes[plane] = small(5);
    }
    if (small(2) != 0) {
      picture.cut_left = small(4), picture.cut_top = small(4), picture.cut_width = small(13);
      picture.cut_height = small(13);
    }
    picture.rotation = static_cast<int32_t>(small(4)) * 90;
    picture.is_mirrored = static_cast<int32_t>(small(2));
    std::vector<float> values(5 * 6 * 3);
    const int status = fill_picture(plain(), picture, tensor_of(5, 6, true, OperandCode::TENSOR_FLOAT32), values.data(),
                                    values.size() * sizeof(float), nullptr);
    taken += status == NNAPI_SHIM_OK ? 1 : 0;
  }
  CHECK(taken > 100);
}
