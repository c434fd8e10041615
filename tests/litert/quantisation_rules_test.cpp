// SPDX-License-Identifier: BSD-3-Clause
// The checker of LiteRT's quantisation specification finds each fault, and the writer's files have none.
#include "tests/litert/quantisation_rules.h"

#include <catch2/catch.hpp>

#include "lib/litert/convert_model.h"
#include "tests/litert/format_rules.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::litert;
using nnapi::OperandId;
using nnapi::testing::Net;
using nnapi::testing::quant_type;

namespace {

std::string bytes_of_file(const File& file) {
  std::string bytes;
  write_file(file, [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); });
  return bytes;
}

std::vector<std::string> problems_of(const File& file) {
  return testing::quantisation_problems(bytes_of_file(file));
}

Tensor int8(std::vector<int32_t> shape, float scale, int64_t zero_point) {
  return {"t", std::move(shape), {}, TensorType::INT8, 0, {scale}, {zero_point}, 0};
}

Tensor with_bytes(File& file, Tensor tensor, const std::string& bytes) {
  tensor.buffer = file.buffers.size();
  file.buffers.emplace_back();
  file.buffers.back().bytes = bytes;
  return tensor;
}

// A file of one operator: its inputs, then one output.
File file_of(Builtin code, Options options, std::vector<Tensor> tensors, File file = {}) {
  Subgraph subgraph;
  Operator one{code, 2, {}, {static_cast<int32_t>(tensors.size()) - 1}, options, {}};
  for (size_t i = 0; i + 1 < tensors.size(); ++i) one.inputs.push_back(static_cast<int32_t>(i));
  subgraph.tensors = std::move(tensors);
  subgraph.operators.push_back(std::move(one));
  file.subgraphs.push_back(std::move(subgraph));
  return file;
}

struct Layer {
  Tensor input = int8({1, 2}, 0.5F, 3), weights = int8({1, 2}, 0.25F, 0), output = int8({1, 1}, 1, 0);
  Tensor bias = {"b", {1}, {}, TensorType::INT32, 0, {0.125F}, {0}, 0};
  std::string numbers = std::string("\x81\x7f", 2);  // -127 and 127
};

std::vector<std::string> problems_of(const Layer& layer) {
  File file;
  const Tensor weights = with_bytes(file, layer.weights, layer.numbers);
  return problems_of(file_of(Builtin::FULLY_CONNECTED, Options::FULLY_CONNECTED,
                             {layer.input, weights, layer.bias, layer.output}, std::move(file)));
}

ConvertedFile converted_layer(const nnapi::Model& model, const WriteOptions& options) {
  SignatureModel signature{"serving_default", &model, {}, {}};
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    InputPort port;
    port.name = "x" + std::to_string(i);
    port.index = i;
    signature.inputs.push_back(std::move(port));
  }
  OutputPort port;
  port.name = "y";
  signature.outputs.push_back(port);
  return convert_model({signature}, options);
}

OperandId uint8_weights(Net& net, const std::vector<int64_t>& shape, const std::vector<uint8_t>& values,
                        int32_t zero_point) {
  const auto data = std::make_shared<std::vector<uint8_t>>(values);
  return net.builder.tensor(nnapi::Constant(nnapi::DataType::kUInt8, shape, data->data(), data), 0.25F, zero_point);
}

// A FULLY_CONNECTED of uint8 with two weights.
ConvertedFile fully_connected(const std::vector<uint8_t>& weights, int32_t zero_point,
                              const WriteOptions& options = {}) {
  Net net;
  const OperandId x = net.model.add(quant_type({2, 2}, 0.5F, 3));
  net.model.inputs.push_back({x});
  const OperandId filter = uint8_weights(net, {1, 2}, weights, zero_point);
  const auto zeros = std::make_shared<std::vector<int32_t>>(1, 0);
  const OperandId bias =
      net.builder.tensor(nnapi::Constant(nnapi::DataType::kInt32, {1}, zeros->data(), zeros), 0.125F, 0);
  const OperandId activation = net.builder.int32(0);
  net.output(net.builder.add(OperationCode::FULLY_CONNECTED, {x, filter, bias, activation}, quant_type({2, 1}, 1, 10)));
  return converted_layer(net.model, options);
}

}  // namespace

TEST_CASE("a layer as the specification has it keeps the rules") {
  CHECK(problems_of(Layer()).empty());
}

TEST_CASE("weights of int8 are symmetric: zero point 0, and no -128") {
  Layer moved, low;
  moved.weights.zero_points = {-5};
  CHECK(problems_of(moved).size() == 1);
  low.numbers = std::string("\x80\x7f", 2);
  CHECK(problems_of(low).size() == 1);
}

TEST_CASE(
    "weights of FULLY_CONNECTED have one scale, and those of convolutions one for each channel of the right axis") {
  Layer layer;
  layer.weights.scales = {0.25F, 0.5F};
  layer.weights.zero_points = {0, 0};
  CHECK_FALSE(problems_of(layer).empty());
  for (const int32_t axis : {0, 3}) {
    File file;
    Tensor filter{"w", {2, 1, 1, 2}, {}, TensorType::INT8, 0, {0.25F, 0.5F}, {0, 0}, axis};
    filter = with_bytes(file, filter, std::string(4, '\1'));
    const Tensor bias{"b", {2}, {}, TensorType::INT32, 0, {0.125F, 0.25F}, {0, 0}, 0};
    const File convolution =
        file_of(Builtin::CONV_2D, Options::CONV_2D,
                {int8({1, 1, 1, 2}, 0.5F, 3), filter, bias, int8({1, 1, 1, 2}, 1, 0)}, std::move(file));
    CHECK(problems_of(convolution).empty() == (axis == 0));
  }
}

TEST_CASE("a bias has the scale of the products, as many scales as the weights, and zero point 0") {
  Layer scale, zero_point, count, type;
  scale.bias.scales = {0.126F};
  CHECK(problems_of(scale).size() == 1);
  zero_point.bias.zero_points = {1};
  CHECK(problems_of(zero_point).size() == 1);
  count.bias.scales = {};
  count.bias.zero_points = {};
  CHECK(problems_of(count).size() == 1);
  type.bias.type = TensorType::FLOAT32;
  CHECK_FALSE(problems_of(type).empty());
}

TEST_CASE("tensors of a layer are of one type") {
  Layer layer;
  layer.output = {"y", {1, 1}, {}, TensorType::FLOAT32, 0, {}, {}, 0};
  CHECK_FALSE(problems_of(layer).empty());
  layer.output = int8({1, 1}, 1, 0);
  layer.output.type = TensorType::UINT8;
  CHECK_FALSE(problems_of(layer).empty());
}

TEST_CASE("operators that move values have one scale") {
  const Tensor x = int8({1, 2}, 0.5F, 3);
  for (const Builtin code :
       {Builtin::RESHAPE, Builtin::MAX_POOL_2D, Builtin::MAXIMUM, Builtin::CONCATENATION, Builtin::TRANSPOSE,
        Builtin::PAD, Builtin::GATHER, Builtin::SLICE, Builtin::MINIMUM, Builtin::RESIZE_BILINEAR,
        Builtin::SPACE_TO_DEPTH, Builtin::AVERAGE_POOL_2D, Builtin::PADV2, Builtin::BATCH_TO_SPACE_ND,
        Builtin::SPACE_TO_BATCH_ND, Builtin::STRIDED_SLICE}) {
    CHECK(problems_of(file_of(code, Options::NONE, {x, x, x})).empty());
    CHECK(problems_of(file_of(code, Options::NONE, {x, x, int8({1, 2}, 0.5F, 4)})).size() == 1);
    CHECK(problems_of(file_of(code, Options::NONE, {x, int8({1, 2}, 0.25F, 3), x})).size() == 1);
  }
}

TEST_CASE("results of softmax, sigmoid, tanh and norms have the scale that is given") {
  const std::pair<Builtin, Tensor> given[] = {{Builtin::SOFTMAX, int8({1, 2}, 1.0F / 256, -128)},
                                              {Builtin::LOGISTIC, int8({1, 2}, 1.0F / 256, -128)},
                                              {Builtin::TANH, int8({1, 2}, 1.0F / 128, 0)},
                                              {Builtin::L2_NORMALIZATION, int8({1, 2}, 1.0F / 128, 0)},
                                              {Builtin::LOG_SOFTMAX, int8({1, 2}, 16.0F / 256, 127)}};
  for (const auto& [code, output] : given) {
    const Tensor x = int8({1, 2}, 0.5F, 3);
    CHECK(problems_of(file_of(code, Options::NONE, {x, output})).empty());
    Tensor moved = output, scaled = output;
    moved.zero_points[0] ^= 1;
    scaled.scales[0] *= 1.01F;
    CHECK(problems_of(file_of(code, Options::NONE, {x, moved})).size() == 1);
    CHECK(problems_of(file_of(code, Options::NONE, {x, scaled})).size() == 1);
  }
}

TEST_CASE("every 8 bit tensor has a scale and a zero point of its range, and no other has") {
  const Tensor x = int8({1, 2}, 0.5F, 3);
  const auto of = [&](const Tensor& other) { return problems_of(file_of(Builtin::ADD, Options::ADD, {x, other, x})); };
  CHECK(of(x).empty());
  CHECK_FALSE(of({"t", {1, 2}, {}, TensorType::INT8, 0, {}, {}, 0}).empty());
  CHECK_FALSE(of(int8({1, 2}, 0.5F, 128)).empty());
  CHECK_FALSE(of(int8({1, 2}, 0, 3)).empty());
  CHECK_FALSE(of({"t", {1, 2}, {}, TensorType::INT8, 0, {0.5F, 0.25F}, {0, 0}, 1}).empty());
  CHECK_FALSE(of({"t", {1, 2}, {}, TensorType::INT32, 0, {0.5F}, {0}, 0}).empty());
}

TEST_CASE("an operator without a rule may have no 8 bit tensors") {
  const Tensor x = int8({1, 2}, 0.5F, 3);
  CHECK_FALSE(problems_of(file_of(Builtin::NEG, Options::NEG, {x, x})).empty());
}

TEST_CASE("the writer's FULLY_CONNECTED keeps the rules, whatever its weights' zero point") {
  for (const int32_t zero_point : {128, 120, 0}) {
    const ConvertedFile file = fully_connected({3, 250}, zero_point);
    REQUIRE(file.refusals.empty());
    CHECK(testing::quantisation_problems(bytes_of_file(file.file)) == std::vector<std::string>{});
    CHECK(testing::format_problems(bytes_of_file(file.file)) == std::vector<std::string>{});
    CHECK(file.file.subgraphs[0].operators.size() == (zero_point == 128 ? 1 : 3));
  }
}

TEST_CASE("a weight of -128 becomes -127, and a uint8 one stays") {
  const auto weights_of = [](const ConvertedFile& file) {
    const Subgraph& subgraph = file.file.subgraphs[0];
    const int32_t id = subgraph.operators[0].inputs[1];
    std::string found;
    file.file.buffers[subgraph.tensors[static_cast<size_t>(id)].buffer].write_to(
        [&](const void* data, size_t size) { found.append(static_cast<const char*>(data), size); });
    return found;
  };
  const ConvertedFile file = fully_connected({0, 255}, 128);
  CHECK(testing::quantisation_problems(bytes_of_file(file.file)) == std::vector<std::string>{});
  CHECK(weights_of(file) == std::string("\x81\x7f", 2));
  CHECK(weights_of(fully_connected({0, 255}, 128, {true})) == std::string("\0\xff", 2));
}
