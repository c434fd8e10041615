// SPDX-License-Identifier: BSD-3-Clause
// torchvision's deformable convolution against its definition, written once more by sums over all pixels.
#include <cmath>
#include <random>
#include <utility>

#include "tests/program/operator_calls.h"

using namespace nnapi_shim::program_testing;

namespace {

struct Form {
  int64_t images, channels, height, width, result_channels, kernel, stride, padding, dilation, groups, offset_groups;
  bool has_mask;
  int64_t out(int64_t size) const { return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
};

struct Data {
  Floats image, weight, offset, mask, bias;
};

Floats random_floats(std::mt19937& random, int64_t count, float most) {
  std::uniform_real_distribution<float> distribution(-most, most);
  Floats values(static_cast<size_t>(count));
  for (float& value : values) value = distribution(random);
  return values;
}

Data made_data(const Form& form, std::mt19937& random) {
  const int64_t pixels = form.out(form.height) * form.out(form.width), kernel = form.kernel * form.kernel;
  return {random_floats(random, form.images * form.channels * form.height * form.width, 1),
          random_floats(random, form.result_channels * form.channels / form.groups * kernel, 1),
          random_floats(random, form.images * 2 * form.offset_groups * kernel * pixels, 3),
          random_floats(random, form.images * form.offset_groups * kernel * pixels, 1),
          random_floats(random, form.result_channels, 1)};
}

// The image between its pixels: each has a share that falls by the distance, to 0 at the next one.
double value_at(const Form& form, const float* plane, double y, double x) {
  double sum = 0;
  for (int64_t i = 0; i < form.height; ++i) {
    for (int64_t k = 0; k < form.width; ++k) {
      sum += plane[i * form.width + k] * std::max(0.0, 1 - std::fabs(y - static_cast<double>(i))) *
             std::max(0.0, 1 - std::fabs(x - static_cast<double>(k)));
    }
  }
  return sum;
}

double expected_at(const Form& form, const Data& data, int64_t image, int64_t result_channel, int64_t y, int64_t x) {
  const int64_t height = form.out(form.height), width = form.out(form.width), kernel = form.kernel * form.kernel;
  const int64_t of_group = form.channels / form.groups;
  const int64_t first = result_channel / (form.result_channels / form.groups) * of_group;
  double sum = data.bias[static_cast<size_t>(result_channel)];
  for (int64_t c = 0; c < of_group; ++c) {
    const int64_t channel = first + c, offset_group = channel / (form.channels / form.offset_groups);
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t number = (image * form.offset_groups + offset_group) * kernel + k;
      const auto element = [&](const Floats& values, int64_t plane) {
        return static_cast<double>(values[static_cast<size_t>((plane * height + y) * width + x)]);
      };
      const double at_y = static_cast<double>(y * form.stride - form.padding + k / form.kernel * form.dilation) +
                          element(data.offset, 2 * number);
      const double at_x = static_cast<double>(x * form.stride - form.padding + k % form.kernel * form.dilation) +
                          element(data.offset, 2 * number + 1);
      const float* plane =
          &data.image[static_cast<size_t>((image * form.channels + channel) * form.height * form.width)];
      sum += data.weight[static_cast<size_t>((result_channel * of_group + c) * kernel + k)] *
             (form.has_mask ? element(data.mask, number) : 1) * value_at(form, plane, at_y, at_x);
    }
  }
  return sum;
}

std::vector<Value> arguments_of(Context& context, const Form& form, const Data& data) {
  const int64_t kernel = form.kernel, of_offset = form.offset_groups * kernel * kernel;
  const std::vector<int64_t> no_mask{form.images, 1};
  return {floats(context, {form.images, form.channels, form.height, form.width}, data.image),
          floats(context, {form.result_channels, form.channels / form.groups, kernel, kernel}, data.weight),
          floats(context, {form.images, 2 * of_offset, form.out(form.height), form.out(form.width)}, data.offset),
          form.has_mask
              ? floats(context, {form.images, of_offset, form.out(form.height), form.out(form.width)}, data.mask)
              : floats(context, no_mask, Floats(static_cast<size_t>(form.images))),
          floats(context, {form.result_channels}, data.bias),
          number(form.stride),
          number(form.stride),
          number(form.padding),
          number(form.padding),
          number(form.dilation),
          number(form.dilation),
          number(form.groups),
          number(form.offset_groups),
          Value(form.has_mask)};
}

}  // namespace

TEST_CASE("deform_conv2d() is its definition") {
  std::mt19937 random(1);
  const Form forms[] = {{1, 2, 5, 6, 3, 3, 1, 1, 1, 1, 1, false},
                        {2, 4, 7, 5, 6, 3, 2, 1, 1, 2, 1, true},
                        {1, 6, 8, 9, 4, 2, 1, 0, 2, 2, 3, true},
                        {3, 3, 4, 4, 3, 1, 1, 0, 1, 3, 3, false}};
  for (const Form& form : forms) {
    Context context;
    const Data data = made_data(form, random);
    const Value found = result(context, "torchvision::deform_conv2d", arguments_of(context, form, data));
    const Floats values = elements(context, found);
    const int64_t height = form.out(form.height), width = form.out(form.width);
    REQUIRE(sizes_of(found) == std::vector<int64_t>{form.images, form.result_channels, height, width});
    size_t at = 0;
    for (int64_t image = 0; image < form.images; ++image) {
      for (int64_t channel = 0; channel < form.result_channels; ++channel) {
        for (int64_t i = 0; i < height * width; ++i, ++at) {
          CHECK(values[at] == Approx(expected_at(form, data, image, channel, i / width, i % width)).margin(1e-4));
        }
      }
    }
    CHECK(*std::max_element(values.begin(), values.end()) > *std::min_element(values.begin(), values.end()));
  }
}

TEST_CASE("deform_conv2d() refuses sizes that don't fit, and reads nothing at places that are no numbers") {
  std::mt19937 random(2);
  const Form form{1, 2, 4, 4, 2, 3, 1, 1, 1, 1, 1, false};
  Context context;
  Data data = made_data(form, random);
  std::vector<Value> arguments = arguments_of(context, form, data);
  constexpr size_t kBias = 4, kStride = 5, kGroups = 11;
  for (const auto& [place, value] : std::vector<std::pair<size_t, Value>>{
           {kGroups, number(2)}, {kBias, floats(context, {1}, {0})}, {2, arguments[0]}, {1, arguments[4]}}) {
    std::vector<Value> changed = arguments;
    changed[place] = value;
    CHECK(refusal(context, "torchvision::deform_conv2d", changed).find("deform_conv2d()") == 0);
  }
  arguments[kStride] = number(0);
  CHECK(refusal(context, "torchvision::deform_conv2d", arguments) ==
        "deform_conv2d(): argument 6 is 0, needs 1 or more");
  for (float& offset : data.offset) offset = NAN;
  data.offset[0] = 1e30F;
  const Value found = result(context, "torchvision::deform_conv2d", arguments_of(context, form, data));
  CHECK(elements(context, found)[0] == data.bias[0]);
}
