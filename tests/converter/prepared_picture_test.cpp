// SPDX-License-Identifier: BSD-3-Clause
// The shim fills inputs with the bytes that calibration gets of the same pictures.
#include "lib/converter/samples/prepared_picture.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/converter/emit/attached_records.h"
#include "lib/format/nnapi_codes.h"
#include "lib/shim/picture.h"

using namespace nnapi_convert;

namespace {

calibration::Picture random_picture(std::mt19937& random) {
  calibration::Picture picture;
  picture.width = 1 + random() % 300;
  picture.height = 1 + random() % 300;
  picture.pixels.resize(picture.width * picture.height * 3);
  const uint32_t smooth = random() % 3 == 0 ? 0 : random() % 200;
  uint8_t last[3] = {0, 0, 0};
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    if (random() % 256 >= smooth) last[i % 3] = static_cast<uint8_t>(random());
    picture.pixels[i] = last[i % 3];
  }
  return picture;
}

ModuleInterface interface_of(Dims dims) {
  ModuleInterface interface;
  interface.inputs.push_back({"x", {at::kFloat, std::move(dims), {}}, {}, true, {}});
  return interface;
}

// The shim's input of the record that a converted file has.
std::vector<float> filled(const calibration::Picture& picture, const PictureChoice& choice, const PictureSize& size) {
  const std::string bytes =
      picture_record_of(choice, interface_of({Dim(1), Dim(size.channels), Dim(size.height), Dim(size.width)}));
  nnapi_shim::PictureRecord record;
  REQUIRE(picture_record::read(bytes.data(), bytes.size(), &record));
  nnapi_shim_picture view = {};
  view.struct_bytes = sizeof view;
  view.width = static_cast<uint32_t>(picture.width);
  view.height = static_cast<uint32_t>(picture.height);
  view.planes[0] = picture.pixels.data();
  view.plane_bytes[0] = picture.pixels.size();
  std::vector<float> values(static_cast<size_t>(size.channels * size.height * size.width));
  nnapi_shim_error error = {};
  const int status = nnapi_shim::fill_picture(record, view, nnapi_shim::picture_tensor(record), values.data(),
                                              values.size() * sizeof(float), &error);
  INFO(error.message);
  REQUIRE(status == NNAPI_SHIM_OK);
  return values;
}

std::string refusal(const PictureChoice& pictures, const ModuleInterface& interface) {
  try {
    check_pictures(pictures, interface);
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kUsage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("1,000 pictures by 4 sets of options: the shim's input is calibration's, byte for byte") {
  const std::vector<double> mean = {0.485, 0.456, 0.406}, deviation = {0.229, 0.224, 0.225};
  const std::pair<PictureChoice, PictureSize> ways[] = {
      {{48, 40, 1, mean, deviation, false}, {3, 40, 40}},
      {{0, 0, 255, {104, 117, 123}, {1}, true}, {3, 33, 47}},
      {{33, 32, 2, {1}, {1}, false}, {1, 32, 32}},
      {{0, 0, 1, {0}, {1}, false}, {3, 224, 224}},
  };
  std::mt19937 random(45);
  size_t wrong = 0, flat = 0;
  for (int i = 0; i < 1000; ++i) {
    const calibration::Picture picture = random_picture(random);
    for (const auto& [choice, size] : ways) {
      const PictureTensor expected = prepared(picture, size, preparation_of(choice));
      const std::vector<float> found = filled(picture, choice, size);
      REQUIRE(found.size() == expected.values.size());
      wrong += std::memcmp(found.data(), expected.values.data(), found.size() * sizeof(float)) != 0 ? 1 : 0;
      flat += std::all_of(found.begin(), found.end(), [&](float value) { return value == found[0]; }) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  CHECK(flat < 100);
}

TEST_CASE("the middle of a picture is torchvision's, whose halves of odd numbers are even") {
  const std::pair<size_t, size_t> lefts[] = {{64, 0}, {65, 0}, {66, 1}, {67, 2},  {68, 2},
                                             {69, 2}, {70, 3}, {71, 4}, {181, 58}};
  for (const auto& [width, left] : lefts) {
    calibration::Picture picture;
    picture.width = width;
    picture.height = 64;
    for (size_t i = 0; i < width * 64; ++i)
      picture.pixels.insert(picture.pixels.end(), 3, static_cast<uint8_t>(i % width));
    const PictureChoice choice{0, 64, 255, {0}, {1}, false};
    const PictureSize size{3, 64, 64};
    INFO(width);
    CHECK(prepared(picture, size, preparation_of(choice)).values[0] == static_cast<float>(left));
    CHECK(filled(picture, choice, size)[63] == static_cast<float>(left + 63));
  }
}

TEST_CASE("options for pictures that make no sense for the model are refused") {
  using Catch::Contains;
  const ModuleInterface pictures = interface_of({Dim(1), Dim(3), Dim(224), Dim(224)});
  const PictureChoice good{256, 224, 1, {0.5}, {0.5}, false};
  CHECK(refusal(good, pictures).empty());
  CHECK_THAT(refusal(good, interface_of({Dim(1), Dim(12)})), Contains("one input of pictures"));
  CHECK_THAT(refusal(good, interface_of({Dim(2), Dim(3), Dim(224), Dim(224)})), Contains("one input of pictures"));
  CHECK_THAT(refusal({256, 224, 1, {}, {}, false}, pictures), Contains("--mean and --std are missing"));
  CHECK_THAT(refusal({0, 0, 1, {1, 2}, {1}, false}, pictures), Contains("2 numbers found, 1 or 3 needed"));
  CHECK_THAT(refusal({0, 0, 1, {1}, {1, 2}, false}, pictures), Contains("--std: 2 numbers found"));
  CHECK_THAT(refusal({256, 200, 1, {1}, {1}, false}, pictures), Contains("--crop 200: the model takes 224 x 224"));
  CHECK_THAT(refusal({0, 0, 1, {1}, {1}, true}, interface_of({Dim(1), Dim(1), Dim(8), Dim(8)})), Contains("--bgr"));
  ModuleInterface bytes = interface_of({Dim(1), Dim(8), Dim(8), Dim(3)});
  bytes.inputs[0].type.dtype = at::kByte;
  CHECK(refusal({16, 8, 1, {}, {}, false}, bytes).empty());
  CHECK_THAT(refusal(good, bytes), Contains("normalises them itself"));
}

TEST_CASE("one input of bytes comes before others, in either order") {
  const ModuleInterface floats = interface_of({Dim(1), Dim(3), Dim(8), Dim(8)});
  ModuleInterface bytes = interface_of({Dim(1), Dim(8), Dim(8), Dim(3)});
  bytes.inputs[0].type.dtype = at::kByte;
  ModuleInterface both;
  both.inputs = {floats.inputs[0], bytes.inputs[0]};
  CHECK(picture_input(both) == 1U);
  both.inputs = {bytes.inputs[0], floats.inputs[0]};
  CHECK(picture_input(both) == 0U);
  both.inputs = {bytes.inputs[0], bytes.inputs[0]};
  CHECK_FALSE(picture_input(both));
  both.inputs = {floats.inputs[0], floats.inputs[0]};
  CHECK_FALSE(picture_input(both));
}
