// SPDX-License-Identifier: BSD-3-Clause
// Version 2 of the buffer as it is written and shown. What runs it, lib/shim, has its own reader and tests.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>

#include "lib/base/error.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/format/crc32.h"
#include "lib/nnapi/builder.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/serialize/shim_buffer_writer.h"

using namespace nnapi_convert;
namespace format = buffer_format_v2;

namespace {

std::vector<int32_t> frozen_words() {
  std::ifstream file(std::string(SOURCE_FOLDER) + "/testdata/buffers/v2_full_net.bin", std::ios::binary);
  REQUIRE(file.good());
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<int32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

// int8 weights of two channels, one of them over the size of what lies in the buffer itself, and a flexible input.
nnapi::Model convolution() {
  nnapi::Model model;
  nnapi::Builder builder(model);
  nnapi::Operand image{OperandCode::TENSOR_QUANT8_ASYMM, {Dim::of_input(0, 0), 4, 4, 80}, 0.5f, 128, {}};
  const nnapi::OperandId input = builder.variable(image);
  auto weights = std::make_shared<std::vector<int8_t>>(160, int8_t{3});
  auto channels = std::make_shared<nnapi::ChannelScales>();
  channels->scales = {0.25f, 0.125f};
  const nnapi::OperandId filter = builder.channel_tensor(
      nnapi::Constant(nnapi::DataType::kInt8, {2, 1, 1, 80}, weights->data(), weights), channels);
  auto steps = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{7, -7});
  const nnapi::OperandId bias = builder.tensor(nnapi::Constant(nnapi::DataType::kInt32, {2}, steps->data(), steps));
  std::vector<nnapi::OperandId> inputs{input, filter, bias};
  for (const int value : {0, 0, 0, 0, 1, 1, 0}) inputs.push_back(builder.int32(value));
  image.dims[3] = 2;
  builder.set_source("net.py:3");
  model.outputs = {{builder.add(OperationCode::CONV_2D, inputs, image), true}};
  model.inputs = {{input, true, 0}};
  return model;
}

// The texts that stand for each operand, then name and source line of each operation: the last words of a buffer whose
// only model has so many, before the bytes of the texts.
std::vector<std::string> texts_of(const ShimBuffer& buffer, size_t operands, size_t operations) {
  const size_t bytes = static_cast<size_t>(buffer.words[format::kTextBytes]), words = (bytes + 3) / 4;
  REQUIRE(bytes > 0);
  const int32_t* const texts = buffer.words.data() + buffer.words.size() - words;
  const size_t count = operands + 2 * operations;
  std::vector<std::string> found;
  for (const int32_t* offset = texts - count; offset != texts; ++offset) {
    REQUIRE(*offset < static_cast<int32_t>(bytes));
    found.emplace_back(reinterpret_cast<const char*>(texts) + *offset);
  }
  return found;
}

}  // namespace

TEST_CASE("version 2: inputs have the names of their arguments, and no other operand has one") {
  nnapi::Model model;
  nnapi::Builder builder(model);
  const nnapi::Operand row{OperandCode::TENSOR_FLOAT32, {4}, 0, 0, {}};
  const nnapi::OperandId x = builder.variable(row), y = builder.variable(row);
  builder.set_source("net.py:7");
  const nnapi::OperandId sum = builder.add(OperationCode::ADD, {x, y, builder.int32(0)}, row);
  model.inputs = {{y, false, 1}, {x, false, 0}};
  model.outputs = {{sum}};
  ShimBufferRequest request{model};
  request.arguments = {{4}, {4}};
  request.names = {"left", "right"};
  const std::vector<std::string> found = texts_of(write_shim_buffer(request), model.operands.size(), 1);
  std::vector<std::string> expected(model.operands.size());
  expected[static_cast<size_t>(x)] = "left";
  expected[static_cast<size_t>(y)] = "right";
  expected.insert(expected.end(), {"ADD", "net.py:7"});
  CHECK(found == expected);
}

TEST_CASE("version 2: what is written is read") {
  const nnapi::Model model = convolution();
  ShimBufferRequest request{model};
  request.arguments = {{Dim::of_input(0, 0), 80, 4, 4}};
  request.names = {"picture"};
  request.feature_level = 3;
  ShimBuffer buffer = write_shim_buffer(request);
  REQUIRE(buffer.weights.size() == 1);
  CHECK(buffer.weight_bytes == 192);  // 160 bytes, to a multiple of 64
  std::vector<uint8_t> weights(buffer.weight_bytes, 0xff);
  weights.clear();
  write_weights(buffer, true, [&](const void* bytes, size_t size) {
    const auto* begin = static_cast<const uint8_t*>(bytes);
    weights.insert(weights.end(), begin, begin + size);
  });
  REQUIRE(weights.size() == buffer.weight_bytes);
  seal(buffer.words.data(), buffer.words.size(), crc32(weights.data(), weights.size()));
  CHECK(weights[159] == 3);
  CHECK(weights[160] == 0);
  CHECK(buffer.words[format::kFeatureLevel] == 3);
  CHECK(buffer.words[format::kPatchCount] == 2);
  CHECK(buffer.words[format::kChecksum] != 0);
  const BufferModel found = read_shim_buffer(buffer.words.data(), buffer.words.size());
  REQUIRE(found.operands.size() == model.operands.size());
  CHECK(found.operands[0].dims == std::vector<uint32_t>{0, 4, 4, 80});
  CHECK(found.operands[0].scale == 0.5f);
  CHECK(found.operands[0].zero_point == 128);
  CHECK(found.operands[1].channel_axis == 0);
  CHECK(found.operands[1].channel_scales == std::vector<float>{0.25f, 0.125f});
  CHECK(found.operands[2].channel_axis == -1);
  REQUIRE(found.operations.size() == 1);
  CHECK(found.operations[0].code == static_cast<int32_t>(OperationCode::CONV_2D));
  CHECK(found.operations[0].inputs == model.operations[0].inputs);
  CHECK(found.operations[0].outputs == model.operations[0].outputs);
  CHECK(found.inputs == std::vector<int32_t>{0});
  CHECK(found.outputs == model.operations[0].outputs);
}

TEST_CASE("version 2: subgraphs, omitted operands, and weights that models share") {
  const auto numbers = std::make_shared<std::vector<float>>(64, 0.5f);
  const nnapi::Operand row{OperandCode::TENSOR_FLOAT32, {64}, 0, 0, {}};
  const auto branch = [&](OperationCode code) {
    auto model = std::make_shared<nnapi::Model>();
    model->is_subgraph = true;
    nnapi::Builder builder(*model);
    const nnapi::OperandId x = builder.variable(row);
    const nnapi::OperandId weights =
        builder.tensor(nnapi::Constant(nnapi::DataType::kFloat32, {64}, numbers->data(), numbers));
    model->inputs = {{x}};
    builder.set_source("branch.py:9");
    model->outputs = {{builder.add(code, {x, weights, builder.int32(0)}, row)}};
    return model;
  };
  nnapi::Model model;
  nnapi::Builder builder(model);
  const nnapi::OperandId x = builder.variable(row);
  const nnapi::OperandId condition = builder.variable({OperandCode::TENSOR_BOOL8, {1}, 0, 0, {}});
  const nnapi::OperandId nothing = model.add({OperandCode::TENSOR_FLOAT32, {1}, 0, 0, nnapi::Omitted{}});
  const nnapi::OperandId yes = model.add({OperandCode::MODEL, {}, 0, 0, branch(OperationCode::ADD)});
  const nnapi::OperandId no = model.add({OperandCode::MODEL, {}, 0, 0, branch(OperationCode::MUL)});
  model.inputs = {{x, false, 0}, {condition, false, 1}};
  model.outputs = {{builder.add(OperationCode::IF, {condition, yes, no, x}, row)}};
  ShimBufferRequest request{model};
  request.arguments = {{64}, {1}};
  request.names = {"x", "c"};
  ShimBuffer buffer = write_shim_buffer(request);
  CHECK(buffer.words[format::kModelCount] == 3);
  REQUIRE(buffer.weights.size() == 1);
  CHECK(buffer.weight_bytes == 256);
  const BufferModel found = read_shim_buffer(buffer.words.data(), buffer.words.size());
  REQUIRE(found.subgraphs.size() == 2);
  CHECK(found.subgraphs[0].operations[0].code == static_cast<int32_t>(OperationCode::ADD));
  CHECK(found.subgraphs[1].operations[0].code == static_cast<int32_t>(OperationCode::MUL));
  REQUIRE(found.values.size() == 3);
  CHECK(found.values[0].operand == nothing);
  CHECK(found.values[0].source == static_cast<int32_t>(format::ValueSource::kOmitted));
  for (const size_t i : {1, 2}) {
    CHECK(found.values[i].source == static_cast<int32_t>(format::ValueSource::kModel));
    CHECK(found.values[i].offset == i);
  }
}

TEST_CASE("version 2: names can be left out") {
  const nnapi::Model model = convolution();
  ShimBufferRequest request{model};
  request.arguments = {{Dim::of_input(0, 0), 80, 4, 4}};
  request.names = {"picture"};
  const std::vector<int32_t> words = write_shim_buffer(request).words;
  request.keeps_names = false;
  const std::vector<int32_t> stripped = write_shim_buffer(request).words;
  const auto holds = [](const std::vector<int32_t>& all, const std::string& text) {
    return std::string(reinterpret_cast<const char*>(all.data()), 4 * all.size()).find(text) != std::string::npos;
  };
  CHECK(holds(words, "picture"));
  CHECK(holds(words, "net.py:3"));
  CHECK_FALSE(holds(stripped, "net.py:3"));
  CHECK(stripped[format::kTextBytes] == 0);
}

TEST_CASE("version 2: the frozen sample") {
  const std::vector<int32_t> words = frozen_words();
  const BufferModel model = read_shim_buffer(words.data(), words.size());
  REQUIRE(model.operands.size() == 13);
  CHECK(model.operands[2].channel_scales == std::vector<float>{0.125f, 0.0625f});
  REQUIRE(model.operations.size() == 3);
  CHECK(model.operations[0].inputs == std::vector<int32_t>{0, 2, 3, 5, 5, 5, 5, 4, 4, 5, 12});
  CHECK(model.operations[2].outputs == std::vector<int32_t>{11});
  CHECK(model.inputs == std::vector<int32_t>{0, 1});
}

TEST_CASE("version 2: damaged buffers are refused or read, and nothing else") {
  const std::vector<int32_t> words = frozen_words();
  for (size_t size = 0; size < words.size(); ++size) {
    CHECK_THROWS_AS(read_shim_buffer(std::vector<int32_t>(words.begin(), words.begin() + size).data(), size),
                    ConvertError);
  }
  int refused = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    for (const int32_t value : {-1, 0, 1, 0x7fffffff, 0x00ffffff}) {
      std::vector<int32_t> changed = words;
      changed[i] = value;
      try {
        read_shim_buffer(changed.data(), changed.size());
      } catch (const ConvertError&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 100);
}
