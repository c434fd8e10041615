// SPDX-License-Identifier: BSD-3-Clause
// Reading buffers: contents, and the messages for malformed ones.
#include "lib/serialize/buffer_reader.h"

#include <catch2/catch.hpp>

#include "lib/base/error.h"
#include "lib/serialize/buffer_writer.h"
#include "tests/serialize/sample_model.h"

using namespace nnapi_convert;

namespace {

using Words = std::vector<int32_t>;

Words sample_words() {
  return write_buffer(testing::sample_model()).words;
}

std::string message_of(const Words& words) {
  try {
    read_buffer(words.data(), words.size());
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kBadFile);
    return error.what();
  }
  return "accepted";
}

// The message for the sample with one word changed.
std::string message_with(size_t position, int32_t value) {
  Words words = sample_words();
  words.at(position) = value;
  return message_of(words);
}

}  // namespace

TEST_CASE("buffer reader: the sample model") {
  const Words words = sample_words();
  const BufferModel model = read_buffer(words.data(), words.size());
  REQUIRE(model.operands.size() == 8);
  CHECK(model.operands[0].type == 5);
  CHECK(model.operands[0].dims == std::vector<uint32_t>{0, 11});
  CHECK(model.operands[0].scale == 0.5f);
  CHECK(model.operands[0].zero_point == 128);
  CHECK(model.operands[4].dims.empty());
  CHECK(model.operands[7].dims == std::vector<uint32_t>{0, 3, 1});
  REQUIRE(model.values.size() == 4);
  CHECK(model.values[0].operand == 2);
  CHECK(model.values[0].source == 2);
  CHECK(model.values[0].buffer == 0);
  CHECK(model.values[0].offset == 0);
  CHECK(model.values[0].length == 132);
  CHECK(model.values[0].bytes.empty());
  CHECK(model.values[1].source == 0);
  CHECK(model.values[1].bytes == std::vector<uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x80, 0xbf});
  CHECK(model.values[2].bytes == std::vector<uint8_t>{1, 0, 0, 0});
  REQUIRE(model.operations.size() == 3);
  CHECK(model.operations[1].code == 9);
  CHECK(model.operations[1].inputs == Words{1, 2, 3, 4});
  CHECK(model.operations[1].outputs == Words{5});
  CHECK(model.inputs == Words{0});
  CHECK(model.outputs == Words{7});
}

TEST_CASE("buffer reader: an empty model, and nothing at all") {
  const Words header = {1, 0, 0, 0, 0, 0};
  CHECK(read_buffer(header.data(), header.size()).operands.empty());
  CHECK(message_of({}) == "malformed model buffer at word 0: version: 0 words left, 1 needed");
}

TEST_CASE("buffer reader: messages say where, what was found, what is needed") {
  CHECK(message_with(0, 2) == "malformed model buffer at word 1: version 2 found, 1 needed");
  CHECK(message_with(1, -1) ==
        "malformed model buffer at word 2: operand count 4294967295 found, less than 16777216 needed");
  CHECK(message_with(1, 1000) == "malformed model buffer at word 2: operand count: 4000 words promised, 94 found");
  CHECK(message_with(38, 8) ==
        "malformed model buffer at word 39: value: operand 8 found, and the model has 8 operands");
  CHECK(message_with(38, -1) ==
        "malformed model buffer at word 39: value: operand -1 found, and the model has 8 operands");
  CHECK(message_with(39, 3) == "malformed model buffer at word 72: value source 3 found, 0 or 2 needed");
  CHECK(message_with(39, 1) == "malformed model buffer at word 72: value source 1 found, 0 or 2 needed");
  CHECK(message_with(40, 11) == "malformed model buffer at word 72: a numbered buffer's value has 11 bytes, 12 needed");
  CHECK(message_with(43, -1) == "malformed model buffer at word 75: value data: 19 words left, 1073741824 needed");
  CHECK(message_with(93, 8) ==
        "malformed model buffer at word 94: model output: operand 8 found, and the model has 8 operands");
}

TEST_CASE("buffer reader: an operand of a model without operands") {
  CHECK(message_of({1, 0, 0, 0, 1, 0, 0}) ==
        "malformed model buffer at word 7: model input: operand 0 found, and the model has 0 operands");
}

TEST_CASE("buffer reader: words that are left over") {
  Words words = sample_words();
  words.push_back(0);
  CHECK(message_of(words) == "malformed model buffer at word 94: 95 words found, 94 needed");
}

TEST_CASE("buffer reader: counts that promise more than the file has are refused before anything is allocated") {
  constexpr int32_t kMany = (1 << 24) - 1;
  for (size_t position = 1; position < 6; ++position) {
    Words words = {1, 0, 0, 0, 0, 0};
    words[position] = kMany;
    CHECK_THAT(message_of(words), Catch::EndsWith("words promised, 6 found"));
  }
  CHECK_THAT(message_with(7, kMany), Catch::Contains("dimension count: "));
  CHECK_THAT(message_with(51, kMany), Catch::Contains("operation input count: "));
  CHECK_THAT(message_with(52, kMany), Catch::Contains("operation output count: "));
  // 2^30 dimensions are 2^32 bytes, which is 0 in 32-bit arithmetic.
  CHECK_THAT(message_with(7, 1 << 30), Catch::EndsWith("dimension count 1073741824 found, less than 16777216 needed"));
}

TEST_CASE("buffer reader: padding is not part of a value") {
  const Words words = {1, 1, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 1, 0x01020301};
  CHECK(read_buffer(words.data(), words.size()).values[0].bytes == std::vector<uint8_t>{1});
}
