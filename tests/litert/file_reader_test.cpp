// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/file_reader.h"

#include <catch2/catch.hpp>
#include <random>

#include "lib/base/error.h"
#include "lib/litert/convert_model.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::litert;
using nnapi::testing::Net;

namespace {

std::string some_file() {
  Net net;
  const nnapi::OperandId x = net.input({1, 6});
  net.output(net.softmax(net.fully_connected(x, 4), 1));
  OutputPort output;
  output.name = "y";
  InputPort input;
  input.name = "x";
  const ConvertedFile converted = convert_model({{"serving_default", &net.model, {input}, {output}}}, {});
  REQUIRE(converted.refusals.empty());
  std::string bytes;
  write_file(converted.file,
             [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); });
  return bytes;
}

// Reads a damaged file: an answer or a ConvertError, and nothing else.
void read_damaged(const std::string& bytes) {
  try {
    to_text(litert::read_file(bytes, "damaged.tflite"));
  } catch (const ConvertError& error) {
    CHECK(error.exit_code() == ExitCode::kBadFile);
  }
}

}  // namespace

TEST_CASE("what is no LiteRT file is refused") {
  CHECK_THROWS_AS(litert::read_file("", "x"), ConvertError);
  CHECK_THROWS_AS(litert::read_file("PK\3\4 and more bytes", "x"), ConvertError);
  CHECK_THROWS_AS(litert::read_file(std::string("\xff\xff\xff\x7fTFL3", 8), "x"), ConvertError);
}

TEST_CASE("a file is shown with its signatures, operators and tensors") {
  const std::string text = to_text(litert::read_file(some_file(), "x.tflite"));
  CHECK(text.find("signature serving_default") != std::string::npos);
  CHECK(text.find("FULLY_CONNECTED version 1") != std::string::npos);
  CHECK(text.find("x: float32[1, 6]") != std::string::npos);
}

TEST_CASE("an operator is shown with its options, and a small constant with its numbers") {
  Net net;
  net.output(net.transpose(net.input({1, 2, 3}), {0, 2, 1}));
  OutputPort output;
  output.name = "y";
  InputPort input;
  input.name = "x";
  ConvertedFile converted = convert_model({{"serving_default", &net.model, {input}, {output}}}, {});
  Subgraph& subgraph = converted.file.subgraphs[0];
  Table options;
  options.set(0, static_cast<int8_t>(1));
  options.set(1, int32_t{2});
  options.set(2, int32_t{3});
  options.set(3, static_cast<int8_t>(3));
  options.set(4, int32_t{2}, int32_t{1});
  subgraph.operators.push_back({Builtin::CONV_2D, 1, {1, 1, 1}, {1}, Options::CONV_2D, std::move(options)});
  std::string bytes;
  write_file(converted.file,
             [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); });
  const ReadFile read = litert::read_file(bytes, "x.tflite");
  const std::string text = to_text(read);
  CHECK(text.find("(int32[3] [0, 2, 1])") != std::string::npos);
  CHECK(text.find("{padding VALID, stride_w 2, stride_h 3, activation RELU6, dilation_w 2}") != std::string::npos);
  CHECK(to_json(read)["subgraphs"][0]["operators"][1]["options"]["stride_h"] == "3");
}

TEST_CASE("cut files are refused, or read as far as they are whole") {
  const std::string bytes = some_file();
  for (size_t size = 0; size < bytes.size(); ++size) read_damaged(bytes.substr(0, size));
}

TEST_CASE("files with changed bytes are read within their bounds") {
  const std::string bytes = some_file();
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (int change = 0; change < 3; ++change) {
      damaged[random() % damaged.size()] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    read_damaged(damaged);
  }
}
