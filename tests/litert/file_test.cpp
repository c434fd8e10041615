// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/file.h"

#include <catch2/catch.hpp>

#include "lib/litert/file_reader.h"

using namespace nnapi_convert;
using namespace nnapi_convert::litert;

namespace {

// y = x + constant, with the constant among the buffers.
File small_file() {
  File file;
  file.buffers.emplace_back();
  file.buffers.back().parts = {nnapi::Constant::of_floats({1, 2, 3}), nnapi::Constant::of_floats({4})};
  Subgraph subgraph;
  subgraph.tensors = {{"x", {1, 4}, {}, TensorType::FLOAT32, 0, {}, {}, 0},
                      {"c", {4}, {}, TensorType::FLOAT32, 1, {}, {}, 0},
                      {"y", {1, 4}, {}, TensorType::FLOAT32, 0, {}, {}, 0}};
  subgraph.inputs = {0};
  subgraph.outputs = {2};
  subgraph.operators.push_back({Builtin::ADD, 1, {0, 1}, {2}, Options::ADD, {}});
  file.subgraphs.push_back(subgraph);
  file.signatures.push_back({"serving_default", 0, {"x"}, {"y"}});
  return file;
}

std::string written(const File& file, uint64_t most = kMostFlatbufferBytes) {
  std::string bytes;
  const uint64_t count = write_file(
      file, [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }, most);
  CHECK(count == bytes.size());
  return bytes;
}

void check_read(const ReadFile& read) {
  REQUIRE(read.subgraphs.size() == 1);
  const ReadSubgraph& subgraph = read.subgraphs[0];
  REQUIRE(subgraph.operators.size() == 1);
  CHECK(subgraph.operators[0].name == "ADD");
  CHECK(subgraph.operators[0].inputs == std::vector<int32_t>{0, 1});
  CHECK(subgraph.tensors[1].constant_bytes == 16);
  CHECK(subgraph.tensors[0].constant_bytes == 0);
  REQUIRE(read.signatures.size() == 1);
  CHECK(read.signatures[0].key == "serving_default");
  CHECK(read.signatures[0].outputs[0].name == "y");
  CHECK(read.signatures[0].outputs[0].tensor == 2);
}

// Where the numbers 1, 2, 3, 4 lie.
size_t place_of_weights(const std::string& bytes) {
  const float weights[] = {1, 2, 3, 4};
  return bytes.find(std::string(reinterpret_cast<const char*>(weights), sizeof weights));
}

}  // namespace

TEST_CASE("a file reads back, with its weights aligned") {
  const std::string bytes = written(small_file());
  check_read(litert::read_file(bytes, "x.tflite"));
  CHECK(litert::read_file(bytes, "x.tflite").least_runtime == "1.15.0");
  CHECK(place_of_weights(bytes) % 16 == 0);
  CHECK(place_of_weights(bytes) != std::string::npos);
}

TEST_CASE("open sizes, several scales and further signatures read back") {
  File file = small_file();
  file.subgraphs.push_back(file.subgraphs[0]);
  Tensor& open = file.subgraphs[1].tensors[0];
  open.signature = {-1, 4};
  Tensor& scaled = file.subgraphs[1].tensors[1];
  scaled.type = TensorType::INT32;
  scaled.scales = {0.5F, 0.25F, 1, 2};
  scaled.zero_points = {0, 1, 2, 3};
  scaled.channel_axis = 3;
  file.signatures.push_back({"other", 1, {"x"}, {"y"}});
  file.metadata.emplace_back("notes", "a text");
  const ReadFile read = litert::read_file(written(file), "x.tflite");
  REQUIRE(read.subgraphs.size() == 2);
  CHECK(read.signatures[1].subgraph == 1);
  CHECK(read.signatures[0].subgraph == 0);
  CHECK(read.subgraphs[1].tensors[0].signature == std::vector<int32_t>{-1, 4});
  CHECK(read.subgraphs[1].tensors[0].shape == std::vector<int32_t>{1, 4});
  CHECK(read.subgraphs[1].tensors[1].scales == scaled.scales);
  CHECK(read.subgraphs[1].tensors[1].zero_points == scaled.zero_points);
  CHECK(read.subgraphs[1].tensors[1].channel_axis == 3);
  CHECK(read.subgraphs[0].tensors[1].value == "[1, 2, 3, 4]");
  CHECK(read.metadata.at("notes") == "a text");
}

TEST_CASE("equal files have equal bytes") {
  CHECK(written(small_file()) == written(small_file()));
}

TEST_CASE("a file that is too large has its weights behind the flatbuffer") {
  const std::string bytes = written(small_file(), 100);
  check_read(litert::read_file(bytes, "x.tflite"));
  const size_t weights = place_of_weights(bytes);
  REQUIRE(weights != std::string::npos);
  CHECK(weights % 16 == 0);
  CHECK(bytes.size() <= weights + 48);  // then only the runtime's version
}

TEST_CASE("uint8 numbers move by 128 where they become int8") {
  const auto data = std::make_shared<std::vector<uint8_t>>(std::vector<uint8_t>{0, 127, 128, 255});
  Buffer buffer;
  buffer.parts = {nnapi::Constant(nnapi::DataType::kUInt8, {4}, data->data(), data)};
  buffer.shifts_sign = true;
  std::vector<int8_t> found;
  buffer.write_to([&](const void* bytes, size_t size) {
    const auto* begin = static_cast<const int8_t*>(bytes);
    found.insert(found.end(), begin, begin + size);
  });
  CHECK(found == std::vector<int8_t>{-128, -1, 0, 127});
}
