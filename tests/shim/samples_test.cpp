// SPDX-License-Identifier: BSD-3-Clause
// Samples of a buffer: what is read of them, what is refused, and which outputs pass.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "tests/shim/buffer_checks.h"
#include "tests/shim/three_operations.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using Catch::Contains;
namespace samples = nnapi_convert::buffer_samples;

namespace {

const std::vector<float> kExpected = {0, 1, 2, 3, 4, 5};

Description net_with(const std::vector<std::vector<int32_t>>& sample) {
  Description net = add_net();
  net.samples = {joined(sample)};
  return net;
}

// Returns the sentence with which the sample is refused when it is read.
std::string sample_refusal(const Description& net) {
  const auto buffer = parse_good(make_buffer(net));
  nnapi_shim_error error{};
  Sample sample;
  CHECK(buffer->read_sample(0, &sample, &error) == NNAPI_SHIM_BAD_MODEL);
  return error.message;
}

nnapi_shim_tensor tensor_of(int32_t type, size_t bytes) {
  nnapi_shim_tensor tensor{};
  tensor.type = type;
  tensor.bytes = bytes;
  return tensor;
}

std::string comparison(const std::vector<float>& found, uint32_t step = 1, float tolerance = 0.125f) {
  std::vector<float> kept;
  for (size_t i = 0; i < kExpected.size(); i += step) kept.push_back(kExpected[i]);
  SampleOutput output;
  output.most_difference = output.root_mean_square = tolerance;
  output.lowest = 0;
  output.highest = 5;
  output.step = step;
  output.elements = reinterpret_cast<const uint8_t*>(kept.data());
  nnapi_shim_error error{};
  const int status = compare_output(output, tensor_of(3, found.size() * 4), 0, found.data(), &error);
  CHECK((status == NNAPI_SHIM_OK) == (error.message[0] == '\0'));
  return error.message;
}

}  // namespace

TEST_CASE("samples: stored and uniform inputs, kept elements") {
  Description net = add_net();
  net.samples = {
      joined({{2, 3}, uniform_input(7, -1.0f, 1.0f), float_output(kExpected, 0.5f)}),
      joined({{2, 3}, stored_input(bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6})), float_output(kExpected, 0.5f, 4)}),
  };
  const auto buffer = parse_good(make_buffer(net));
  REQUIRE(buffer->sample_count() == 2);
  Sample made, stored;
  REQUIRE(buffer->read_sample(0, &made, nullptr) == NNAPI_SHIM_OK);
  REQUIRE(buffer->read_sample(1, &stored, nullptr) == NNAPI_SHIM_OK);
  CHECK(made.sizes == std::vector<int64_t>{2, 3});
  REQUIRE(made.inputs.size() == 1);
  REQUIRE(made.inputs[0].size() == 24);
  for (size_t i = 0; i < 6; ++i) {
    float value = 0;
    std::memcpy(&value, &made.inputs[0][4 * i], 4);
    CHECK(value == samples::uniform_float(7, i, -1.0f, 1.0f));
  }
  CHECK(stored.inputs[0] == bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}));
  REQUIRE(stored.outputs.size() == 1);
  CHECK(stored.outputs[0].step == 4);
  CHECK(stored.outputs[0].most_difference == 0.5f);
  CHECK(stored.outputs[0].highest == 5);
  float second = 0;
  std::memcpy(&second, stored.outputs[0].elements + 4, 4);
  CHECK(second == 4);
}

TEST_CASE("samples: the generator's numbers are the same for ever") {
  CHECK(samples::random_bits(0, 0) == 3793791033u);
  CHECK(samples::random_bits(1, 0) != samples::random_bits(0, 0));
  CHECK(samples::uniform_integer(5, 3, -2, -2) == -2);
  std::set<int32_t> numbers;
  for (uint64_t i = 0; i < 100; ++i) numbers.insert(samples::uniform_integer(7, i, -2, 1));
  CHECK(numbers == std::set<int32_t>{-2, -1, 0, 1});
  float least = 1, most = 0;
  double sum = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    const float value = samples::uniform_float(3, i, 0, 1);
    least = std::min(least, value);
    most = std::max(most, value);
    sum += static_cast<double>(value);
    const int32_t number =
        samples::uniform_integer(3, i, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    CHECK((number <= 0 || number > 0));
  }
  CHECK(least >= 0);
  CHECK(least < 0.01f);
  CHECK(most < 1);
  CHECK(most > 0.99f);
  CHECK(std::fabs(sum / 10000 - 0.5) < 0.02);
}

TEST_CASE("samples: damaged ones are refused") {
  Description none = add_net();
  none.samples = {{}};
  MadeBuffer made = make_buffer(none);
  made.words[made.words.size() - 2] = 5;
  seal(made.words);
  CHECK_THAT(refusal(made), Contains("5 samples found, 1 to 4 needed"));
  made.words[made.words.size() - 2] = 1;
  made.words.back() = 2;
  seal(made.words);
  CHECK_THAT(refusal(made), Contains("a sample: 1 words left, 2 needed"));
  const std::vector<int32_t> input = uniform_input(1, 0.0f, 1.0f), output = float_output(kExpected, 1);
  CHECK_THAT(sample_refusal(none), Contains("sizes of sample 0: 0 words left, 2 needed"));
  CHECK_THAT(sample_refusal(net_with({{2, 4}, input, output})), Contains("sample 0: axis 1 of argument 0 has size 4"));
  CHECK_THAT(sample_refusal(net_with({{2, 3}, {2, 0, 0, 0}, output})), Contains("kind 2 of an input"));
  CHECK_THAT(sample_refusal(net_with({{2, 3}, input})), Contains("an output of sample 0: 0 words left, 5 needed"));
  CHECK_THAT(sample_refusal(net_with({{2, 3}, input, output, {0}})), Contains("1 more words of sample 0 found"));
  std::vector<int32_t> without_step = output;
  without_step[4] = 0;
  CHECK_THAT(sample_refusal(net_with({{2, 3}, input, without_step})), Contains("with step 0"));
}

TEST_CASE("samples: an input that is too large to be made") {
  Description net = three_operations();
  net.samples = {joined({{1 << 20, 64}, uniform_input(1, 0.0f, 1.0f)})};
  CHECK_THAT(sample_refusal(net), Contains("at most 67108864 needed"));
}

TEST_CASE("samples: which outputs pass") {
  CHECK(comparison(kExpected).empty());
  CHECK(comparison({0.1f, 1.1f, 2, 3, 4, 5.1f}).empty());
  CHECK_THAT(comparison({0, 1, 2.5f, 3, 4, 5}),
             Contains("element 2 of output 0 is wrong by 0.5, at most 0.125 may be"));
  const float nan = std::nanf("");
  CHECK_THAT(comparison({0, 1, 2, 3, 4, nan}), Contains("element 5 of output 0 is nan, -0.125 to 5.125 needed"));
  // Elements that are not kept have to lie within the range.
  CHECK(comparison({0, 4, 2, 3, 4, 5}, 2).empty());
  CHECK_THAT(comparison({0, 6, 2, 3, 4, 5}, 2), Contains("element 1 of output 0 is 6, -0.125 to 5.125 needed"));
  CHECK_THAT(comparison({0, nan, 2, 3, 4, 5}, 2), Contains("nan"));
  const std::vector<uint8_t> steps = {10, 20, 30, 40};
  SampleOutput output;
  output.most_difference = 2;
  output.root_mean_square = 1;
  output.lowest = 10;
  output.highest = 40;
  output.elements = steps.data();
  const auto compare = [&](const std::vector<uint8_t>& found) {
    return compare_output(output, tensor_of(5, 4), 1, found.data(), nullptr);
  };
  CHECK(compare({10, 21, 30, 39}) == NNAPI_SHIM_OK);
  CHECK(compare({10, 22, 30, 40}) == NNAPI_SHIM_OK);
  CHECK(compare({10, 23, 30, 40}) == NNAPI_SHIM_FAILED);
  CHECK(compare({12, 22, 32, 42}) == NNAPI_SHIM_FAILED);  // by the root mean square
}
