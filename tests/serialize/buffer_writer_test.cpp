// SPDX-License-Identifier: BSD-3-Clause
// The wire format section by section, word by word.
#include "lib/serialize/buffer_writer.h"

#include <catch2/catch.hpp>

#include "lib/base/error.h"
#include "lib/nnapi/builder.h"
#include "tests/serialize/sample_model.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::constant_of;
using testing::float_bits;

namespace {

using Words = std::vector<int32_t>;

Words slice(const Words& words, size_t first, size_t count) {
  REQUIRE(first + count <= words.size());
  return Words(words.begin() + static_cast<std::ptrdiff_t>(first),
               words.begin() + static_cast<std::ptrdiff_t>(first + count));
}

// A model of one constant operand and nothing else: header 6, operand 4, value 3, dimensions, then the value's data.
SerializedModel write_constant(Operand operand) {
  Model model;
  model.add(std::move(operand));
  return write_buffer(model);
}

Operand scalar(OperandCode type, OperandValue value) {
  return {type, {}, 0, 0, std::move(value)};
}

Operand weights(Constant value) {
  Model model;
  return model.at(Builder(model).tensor(std::move(value)));
}

}  // namespace

TEST_CASE("buffer writer: the sample model, section by section") {
  const Words words = write_buffer(testing::sample_model()).words;
  const int32_t half = float_bits(0.5f);
  CHECK(slice(words, 0, 6) == Words{1, 8, 4, 3, 1, 1});
  CHECK(slice(words, 6, 32) ==
        Words{5, 2, half, 128, 3, 2, 0, 0, 3, 2, 0, 0, 3, 1, 0, 0, 1, 0, 0, 0, 3, 2, 0, 0, 4, 1, 0, 0, 3, 3, 0, 0});
  CHECK(slice(words, 38, 12) == Words{2, 2, 12, 3, 0, 12, 4, 0, 4, 6, 0, 12});
  CHECK(slice(words, 50, 9) == Words{6, 1, 1, 9, 4, 1, 22, 2, 1});
  CHECK(slice(words, 59, 13) == Words{0, 11, 0, 11, 3, 11, 3, 0, 3, 3, 0, 3, 1});
  CHECK(slice(words, 72, 3) == Words{0, 0, 132});
  CHECK(slice(words, 75, 3) == Words{float_bits(1), float_bits(2), float_bits(-1)});
  CHECK(slice(words, 78, 4) == Words{1, 0, 3, 1});
  CHECK(slice(words, 82, 10) == Words{0, 1, 1, 2, 3, 4, 5, 5, 6, 7});
  CHECK(slice(words, 92, 2) == Words{0, 7});
  CHECK(words.size() == 94);
}

TEST_CASE("buffer writer: flexible words are 0, with their position and expression") {
  const SerializedModel written = write_buffer(testing::sample_model());
  std::vector<size_t> positions;
  for (const WordPatch& patch : written.patches) {
    positions.push_back(patch.word);
    CHECK(patch.value == Dim::of_input(0, 0));
    CHECK(written.words[patch.word] == 0);
  }
  CHECK(positions == std::vector<size_t>{59, 61, 66, 69, 79});
  Model model;
  const Dim height = (Dim::of_input(1, 2) + 1).floor_div(2);
  Builder(model).int32(height);
  const SerializedModel scalar_patch = write_buffer(model);
  REQUIRE(scalar_patch.patches.size() == 1);
  CHECK(scalar_patch.patches[0].word == 13);
  CHECK(scalar_patch.patches[0].value == height);
  CHECK(scalar_patch.words.size() == 14);
}

TEST_CASE("buffer writer: scalars") {
  CHECK(slice(write_constant(scalar(OperandCode::INT32, Dims{-7})).words, 6, 8) == Words{1, 0, 0, 0, 0, 0, 4, -7});
  CHECK(slice(write_constant(scalar(OperandCode::BOOL, true)).words, 6, 8) == Words{6, 0, 0, 0, 0, 0, 1, 1});
  CHECK(slice(write_constant(scalar(OperandCode::BOOL, false)).words, 6, 8) == Words{6, 0, 0, 0, 0, 0, 1, 0});
  CHECK(slice(write_constant(scalar(OperandCode::FLOAT32, -2.5f)).words, 6, 8) ==
        Words{0, 0, 0, 0, 0, 0, 4, float_bits(-2.5f)});
}

TEST_CASE("buffer writer: integer tensors") {
  Operand pairs{OperandCode::TENSOR_INT32, {2, 2}, 0, 0, Dims{1, -2, 3, 4}};
  CHECK(slice(write_constant(pairs).words, 6, 13) == Words{4, 2, 0, 0, 0, 0, 16, 2, 2, 1, -2, 3, 4});
}

TEST_CASE("buffer writer: bytes are padded with zeros to a whole word") {
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 255};
  for (size_t count = 1; count <= bytes.size(); ++count) {
    const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    const auto length = static_cast<int64_t>(count);
    const Words words = write_constant(weights(constant_of(DataType::kUInt8, {length}, part))).words;
    CHECK(words[12] == static_cast<int32_t>(count));  // without padding
    Words expected = {0, 0};
    for (size_t i = 0; i < count; ++i) expected[i / 4] |= static_cast<int32_t>(uint32_t{bytes[i]} << (8 * (i % 4)));
    expected.resize((count + 3) / 4);
    CHECK(slice(words, 14, words.size() - 14) == expected);
  }
}

TEST_CASE("buffer writer: scale and zero point, and a tensor of int8") {
  Operand operand = weights(constant_of<int8_t>(DataType::kInt8, {1, 2}, {-1, 2}));
  operand.scale = 0.0187f;
  operand.zero_point = -3;
  CHECK(slice(write_constant(operand).words, 6, 10) == Words{14, 2, float_bits(0.0187f), -3, 0, 0, 2, 1, 2, 0x02ff});
}

TEST_CASE("buffer writer: recipes are evaluated") {
  const Constant value = Constant::of_floats({1, 2, 3, 4, 5, 6}, {2, 3}).then(Permute{{1, 0}});
  const Words words = write_constant(weights(value)).words;
  CHECK(slice(words, 13, 2) == Words{3, 2});
  for (size_t i = 0; i < 6; ++i) CHECK(words[15 + i] == float_bits(std::vector<float>{1, 4, 2, 5, 3, 6}[i]));
}

TEST_CASE("buffer writer: up to 128 bytes immediate, more in numbered buffers") {
  const SerializedModel small = write_constant(weights(Constant::of_floats(std::vector<float>(32, 1))));
  CHECK(small.buffers.empty());
  CHECK(slice(small.words, 10, 3) == Words{0, 0, 128});
  CHECK(small.words.size() == 14 + 32);
  const Constant value = Constant::of_floats(std::vector<float>(33, 1));
  const SerializedModel large = write_constant(weights(value));
  CHECK(slice(large.words, 10, large.words.size() - 10) == Words{0, 2, 12, 33, 0, 0, 132});
  REQUIRE(large.buffers.size() == 1);
  CHECK(large.buffers[0] == value);
}

TEST_CASE("buffer writer: buffers are numbered in the order of operands") {
  Model model;
  Builder builder(model);
  const Constant first = Constant::of_floats(std::vector<float>(40, 1));
  const Constant second = Constant::of_floats(std::vector<float>(50, 2));
  builder.tensor(first);
  builder.int32(5);
  builder.tensor(second);
  const SerializedModel written = write_buffer(model);
  REQUIRE(written.buffers.size() == 2);
  CHECK(written.buffers[0] == first);
  CHECK(written.buffers[1] == second);
  const size_t data = 6 + 3 * 4 + 3 * 3 + 2;
  CHECK(slice(written.words, data, 7) == Words{0, 0, 160, 5, 1, 0, 200});
}

TEST_CASE("buffer writer: operations with several results, several inputs and outputs") {
  Model model;
  Builder builder(model);
  const Operand type{OperandCode::TENSOR_FLOAT32, {2}, 0, 0, {}};
  const OperandId a = builder.variable(type);
  const OperandId b = builder.variable(type);
  const auto parts = builder.add(OperationCode::SPLIT, {b, a}, {type, type});
  model.inputs = {{b}, {a}};
  model.outputs = {{parts[1]}, {parts[0]}};
  const Words words = write_buffer(model).words;
  CHECK(slice(words, 0, 6) == Words{1, 4, 0, 1, 2, 2});
  CHECK(slice(words, 6 + 16, 3) == Words{87, 2, 2});
  CHECK(slice(words, 6 + 16 + 3 + 4, 8) == Words{1, 0, 2, 3, 1, 0, 3, 2});
  CHECK(words.size() == 6 + 16 + 3 + 4 + 8);
}

TEST_CASE("buffer writer: an empty model is a header") {
  CHECK(write_buffer(Model{}).words == Words{1, 0, 0, 0, 0, 0});
}

TEST_CASE("buffer writer: numbers that don't fit in a word are refused") {
  constexpr int64_t kMax = INT32_MAX;
  constexpr int64_t kMin = INT32_MIN;
  CHECK(write_constant(scalar(OperandCode::INT32, Dims{kMax})).words[13] == INT32_MAX);
  CHECK(write_constant(scalar(OperandCode::INT32, Dims{kMin})).words[13] == INT32_MIN);
  for (const int64_t number : {kMax + 1, kMin - 1, int64_t{1} << 40}) {
    try {
      write_constant(scalar(OperandCode::INT32, Dims{number}));
      FAIL("no error");
    } catch (const ConvertError& error) {
      CHECK(error.exit_code() == ExitCode::kNotConvertible);
      CHECK(error.what() ==
            "the model has the number " + std::to_string(number) + ", and the buffer format holds 32 bits");
    }
  }
}
