// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/convert_model.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "lib/litert/delegates.h"
#include "lib/nnapi/passes/choose_layout.h"
#include "tests/nnapi/small_models.h"

using namespace nnapi_convert;
using namespace nnapi_convert::litert;
using nnapi::OperandId;
using nnapi::testing::Net;

namespace {

ConvertedFile converted(const nnapi::Model& model, const WriteOptions& options = {}) {
  SignatureModel signature{"serving_default", &model, {}, {}};
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    signature.inputs.emplace_back();
    signature.inputs.back().name = "x" + std::to_string(i);
    signature.inputs.back().index = i;
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    OutputPort port;
    port.name = "y" + std::to_string(i);
    port.index = i;
    signature.outputs.push_back(port);
  }
  return convert_model({signature}, options);
}

std::vector<Builtin> codes(const ConvertedFile& file) {
  std::vector<Builtin> result;
  for (const Operator& each : file.file.subgraphs.at(0).operators) result.push_back(each.code);
  return result;
}

const Tensor& tensor(const ConvertedFile& file, int32_t id) {
  return file.file.subgraphs.at(0).tensors.at(static_cast<size_t>(id));
}

nnapi::Operand quantised(Dims dims, float scale, int32_t zero_point) {
  return nnapi::testing::quant_type(std::move(dims), scale, zero_point);
}

OperandId quantised_input(Net& net, const Dims& dims, float scale, int32_t zero_point) {
  const OperandId id = net.model.add(quantised(dims, scale, zero_point));
  net.model.inputs.push_back({id});
  return id;
}

OperandId bytes(Net& net, const std::vector<int64_t>& shape, float scale, int32_t zero_point) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  const auto data = std::make_shared<std::vector<uint8_t>>(count, uint8_t{130});
  return net.builder.tensor(nnapi::Constant(nnapi::DataType::kUInt8, shape, data->data(), data), scale, zero_point);
}

// A convolution of uint8 with weights of this zero point.
ConvertedFile quantised_convolution(int32_t weights_zero_point, const WriteOptions& options) {
  Net net;
  const OperandId x = quantised_input(net, {1, 4, 4, 2}, 0.5F, 3);
  const OperandId filter = bytes(net, {1, 1, 1, 2}, 0.25F, weights_zero_point);
  const auto zeros = std::make_shared<std::vector<int32_t>>(1, 0);
  const OperandId bias =
      net.builder.tensor(nnapi::Constant(nnapi::DataType::kInt32, {1}, zeros->data(), zeros), 0.125F, 0);
  std::vector<OperandId> inputs{x, filter, bias};
  for (const int64_t number : {2, 1, 1, 0}) inputs.push_back(net.builder.int32(number));  // VALID, strides, activation
  net.output(net.builder.add(OperationCode::CONV_2D, inputs, quantised({1, 4, 4, 1}, 1, 10)));
  return converted(net.model, options);
}

}  // namespace

TEST_CASE("padding that is SAME needs no PAD, other padding does") {
  Net net;
  const OperandId x = net.input({1, 3, 8, 8}, true);
  net.output(net.conv(x, 4));
  nnapi::choose_layout(net.model);
  const ConvertedFile file = converted(net.model);
  REQUIRE(file.refusals.empty());
  for (const Builtin code : codes(file)) CHECK(code != Builtin::PAD);
}

TEST_CASE("NCHW is refused with the operation's name") {
  Net net;
  net.output(net.conv(net.input({1, 3, 8, 8}), 4));
  const ConvertedFile file = converted(net.model);
  REQUIRE(file.refusals.size() == 1);
  CHECK(file.refusals[0].op == "CONV_2D");
  CHECK(file.refusals[0].hint == "add --nhwc");
}

TEST_CASE("uint8 becomes int8 with symmetric weights, and the bias gets the products' scale") {
  const ConvertedFile file = quantised_convolution(128, {});
  REQUIRE(file.refusals.empty());
  CHECK(codes(file) == std::vector<Builtin>{Builtin::CONV_2D});
  const Operator& conv = file.file.subgraphs[0].operators[0];
  CHECK(conv.version == 3);
  CHECK(tensor(file, conv.inputs[0]).type == TensorType::INT8);
  CHECK(tensor(file, conv.inputs[0]).zero_points == std::vector<int64_t>{-125});
  CHECK(tensor(file, conv.inputs[1]).zero_points == std::vector<int64_t>{0});
  CHECK(file.file.buffers[tensor(file, conv.inputs[1]).buffer].shifts_sign);
  CHECK(tensor(file, conv.inputs[2]).scales == std::vector<float>{0.125F});
}

TEST_CASE("weights with another zero point stay uint8, between QUANTIZEs, and are there once") {
  const ConvertedFile file = quantised_convolution(120, {});
  const auto holds_weights = [](const Buffer& buffer) {
    return !buffer.parts.empty() && buffer.parts[0].type() == nnapi::DataType::kUInt8;
  };
  CHECK(std::count_if(file.file.buffers.begin(), file.file.buffers.end(), holds_weights) == 1);
  CHECK(codes(file) == std::vector<Builtin>{Builtin::QUANTIZE, Builtin::CONV_2D, Builtin::QUANTIZE});
  const Operator& conv = file.file.subgraphs[0].operators[1];
  CHECK(conv.version == 1);
  CHECK(tensor(file, conv.inputs[1]).type == TensorType::UINT8);
  CHECK(tensor(file, conv.inputs[1]).zero_points == std::vector<int64_t>{120});
  CHECK_FALSE(file.file.buffers[tensor(file, conv.inputs[1]).buffer].shifts_sign);
}

TEST_CASE("uint8 stays where it is asked for") {
  const ConvertedFile file = quantised_convolution(120, {true});
  CHECK(codes(file) == std::vector<Builtin>{Builtin::CONV_2D});
  CHECK(tensor(file, file.file.subgraphs[0].inputs[0]).type == TensorType::UINT8);
}

TEST_CASE("FULLY_CONNECTED reads a matrix: another input is reshaped before it, unless its last axis is as wide") {
  for (const Dims& dims : {Dims{2, 6}, Dims{2, 2, 6}, Dims{2, 4, 3, 1}, Dims{2, 1, 3, 4}}) {
    Net net;
    const OperandId x = net.input(dims);
    const OperandId weights = net.weights({5, 6}), bias = net.weights({5});
    const Dim rows = product(dims).value() / 6;
    net.output(net.builder.add(OperationCode::FULLY_CONNECTED, {x, weights, bias, net.builder.int32(0)},
                               nnapi::testing::float_type({rows, 5})));
    const ConvertedFile file = converted(net.model);
    const bool is_wide = dims.back() == Dim(6);
    CHECK(codes(file) == (is_wide ? std::vector<Builtin>{Builtin::FULLY_CONNECTED}
                                  : std::vector<Builtin>{Builtin::RESHAPE, Builtin::FULLY_CONNECTED}));
    const Operator& layer = file.file.subgraphs[0].operators.back();
    CHECK(tensor(file, layer.inputs[0]).shape.back() == 6);
  }
}

TEST_CASE("an input that no operation reads is in the signature, and may be an output") {
  Net net;
  net.output(net.unary(OperationCode::TANH, net.input({1, 4})));
  InputPort unread, read;
  unread.name = "unread";
  unread.unread = nnapi::testing::float_type({2, 3});
  read.name = "read";
  OutputPort first, second;
  first.name = "first";
  second.name = "second";
  second.source = OutputPort::Source::kInput;
  const ConvertedFile file = convert_model({{"serving_default", &net.model, {unread, read}, {first, second}}}, {});
  REQUIRE(file.refusals.empty());
  CHECK(file.file.signatures[0].inputs == std::vector<std::string>{"unread", "read"});
  const Subgraph& subgraph = file.file.subgraphs[0];
  CHECK(tensor(file, subgraph.inputs[0]).shape == std::vector<int32_t>{2, 3});
  CHECK(tensor(file, subgraph.outputs[1]).shape == std::vector<int32_t>{2, 3});
  CHECK(subgraph.operators[0].inputs[0] == subgraph.inputs[1]);
}

TEST_CASE("uint8 is kept at the edges where weights have a scale for each channel") {
  Net net;
  const OperandId x = quantised_input(net, {1, 4, 4, 2}, 0.5F, 3);
  const auto numbers = std::make_shared<std::vector<int8_t>>(std::vector<int8_t>{1, 2, 3, 4});
  const auto scales = std::make_shared<const nnapi::ChannelScales>(nnapi::ChannelScales{0, {0.25F, 0.5F}});
  const OperandId filter = net.builder.channel_tensor(
      nnapi::Constant(nnapi::DataType::kInt8, {2, 1, 1, 2}, numbers->data(), numbers), scales);
  const auto zeros = std::make_shared<std::vector<int32_t>>(2, 0);
  const OperandId bias = net.builder.tensor(nnapi::Constant(nnapi::DataType::kInt32, {2}, zeros->data(), zeros), 0, 0);
  std::vector<OperandId> inputs{x, filter, bias};
  for (const int64_t number : {2, 1, 1, 0}) inputs.push_back(net.builder.int32(number));  // VALID, strides, activation
  net.output(net.builder.add(OperationCode::CONV_2D, inputs, quantised({1, 4, 4, 2}, 1, 10)));
  const ConvertedFile file = converted(net.model, {true});
  REQUIRE(file.refusals.empty());
  CHECK(file.warnings.size() == 1);
  CHECK(codes(file) == std::vector<Builtin>{Builtin::QUANTIZE, Builtin::CONV_2D, Builtin::QUANTIZE});
  const Subgraph& subgraph = file.file.subgraphs[0];
  for (const int32_t port : {subgraph.inputs[0], subgraph.outputs[0]})
    CHECK(tensor(file, port).type == TensorType::UINT8);
  CHECK(tensor(file, subgraph.operators[1].inputs[0]).type == TensorType::INT8);
  CHECK(tensor(file, subgraph.operators[1].inputs[2]).scales == std::vector<float>{0.125F, 0.25F});
  CHECK(converted(net.model).warnings.empty());
}

TEST_CASE("a maximum of numbers with two scales gets one by QUANTIZE") {
  Net net;
  const OperandId x = quantised_input(net, {1, 4}, 0.5F, 3), y = quantised_input(net, {1, 4}, 0.25F, 3);
  net.output(net.builder.add(OperationCode::MAXIMUM, {x, y}, quantised({1, 4}, 0.5F, 3)));
  CHECK(codes(converted(net.model)) == std::vector<Builtin>{Builtin::QUANTIZE, Builtin::MAXIMUM});
}

TEST_CASE("an open size is open in the file, and no convolution is refused for it") {
  Net net;
  const OperandId x = net.input(Dims{1, 3, 8, Dim::of_input(0, 3)}, true);
  net.output(net.conv(x, 4));
  nnapi::choose_layout(net.model);
  const ConvertedFile file = converted(net.model);
  REQUIRE(file.refusals.empty());
  CHECK(tensor(file, file.file.subgraphs[0].inputs[0]).signature == std::vector<int32_t>{1, 8, -1, 3});
}

TEST_CASE("a shape of several open sizes is computed from the input's") {
  Net net;
  const Dim batch = Dim::of_input(0, 0), length = Dim::of_input(0, 1);
  const OperandId x = net.input(Dims{batch, length, 6});
  const OperandId shape = net.builder.int32_tensor(Dims{batch, length * Dim(2), 3});
  net.output(
      net.builder.add(OperationCode::RESHAPE, {x, shape}, nnapi::testing::float_type({batch, length * Dim(2), 3})));
  const ConvertedFile file = converted(net.model);
  REQUIRE(file.refusals.empty());
  CHECK(codes(file) == std::vector<Builtin>{Builtin::SHAPE, Builtin::GATHER, Builtin::GATHER, Builtin::MUL,
                                            Builtin::CONCATENATION, Builtin::RESHAPE});
}

TEST_CASE("a maximum over padding takes zeros only of what is never negative") {
  for (const auto& [activation, pads_zeros] : {std::pair(FuseCode::NONE, false), std::pair(FuseCode::RELU, true),
                                               std::pair(FuseCode::RELU1, false), std::pair(FuseCode::RELU6, true)}) {
    Net net;
    const OperandId x = net.input({1, 6, 6, 2}), y = net.input({1, 6, 6, 2});
    const OperandId sum =
        net.builder.add(OperationCode::ADD, {x, y, net.builder.int32(static_cast<int64_t>(activation))},
                        nnapi::testing::float_type({1, 6, 6, 2}));
    std::vector<OperandId> inputs{sum};
    for (const int64_t number : {1, 0, 1, 0, 2, 2, 3, 3, 0}) inputs.push_back(net.builder.int32(number));
    net.output(net.builder.add(OperationCode::MAX_POOL_2D, inputs, nnapi::testing::float_type({1, 3, 3, 2})));
    const ConvertedFile file = converted(net.model);
    REQUIRE(file.refusals.empty());
    CHECK(codes(file) ==
          std::vector<Builtin>{Builtin::ADD, pads_zeros ? Builtin::PAD : Builtin::PADV2, Builtin::MAX_POOL_2D});
  }
}

TEST_CASE("operators that GPUs lack are counted, and those of open sizes or five axes") {
  File file;
  file.subgraphs.emplace_back();
  Subgraph& subgraph = file.subgraphs[0];
  for (const std::vector<int32_t>& shape : {std::vector<int32_t>{1, 2}, std::vector<int32_t>{1, 2, 3, 4, 5}}) {
    subgraph.tensors.push_back({"t", shape, {}, TensorType::FLOAT32, 0, {}, {}, 0});
  }
  subgraph.tensors.push_back({"open", {1, 2}, {-1, 2}, TensorType::FLOAT32, 0, {}, {}, 0});
  for (const Builtin code : {Builtin::ARG_MIN, Builtin::BATCH_TO_SPACE_ND, Builtin::FILL, Builtin::IF,
                             Builtin::L2_NORMALIZATION, Builtin::LOCAL_RESPONSE_NORMALIZATION, Builtin::LOG_SOFTMAX,
                             Builtin::SPACE_TO_BATCH_ND, Builtin::WHILE, Builtin::ADD}) {
    subgraph.operators.push_back({code, 1, {0}, {0}, Options::NONE, {}});
  }
  for (const int32_t id : {1, 2}) {
    subgraph.operators.push_back({Builtin::TANH, 1, {0}, {id}, Options::NONE, {}});
    subgraph.operators.push_back({Builtin::EXP, 1, {id}, {0}, Options::NONE, {}});
  }
  const OperatorCounts lacking = lacking_on_gpu(file);
  CHECK(lacking.size() == 11);
  CHECK(lacking.at("WHILE") == 1);
  CHECK(lacking.at("TANH") == 2);
  CHECK(lacking.at("EXP") == 2);
  CHECK(lacking.count("ADD") == 0);
  CHECK(operator_counts(file).at("ADD") == 1);
}

TEST_CASE("equal constants share a buffer") {
  Net net;
  const OperandId x = net.input({1, 4});
  const nnapi::Constant value = nnapi::Constant::of_floats({1, 2, 3, 4});
  const OperandId first = net.builder.tensor(value), second = net.builder.tensor(value);
  net.output(net.binary(OperationCode::MUL, net.binary(OperationCode::ADD, x, first), second));
  const ConvertedFile file = converted(net.model);
  const Subgraph& subgraph = file.file.subgraphs[0];
  CHECK(tensor(file, subgraph.operators[0].inputs[1]).buffer == tensor(file, subgraph.operators[1].inputs[1]).buffer);
}

TEST_CASE("a value that is given back twice is copied once, and so is an input") {
  Net net;
  const OperandId x = net.input({1, 4});
  const OperandId y = net.unary(OperationCode::TANH, x);
  net.output(y);
  net.output(y);
  const ConvertedFile file = converted(net.model);
  CHECK(codes(file) == std::vector<Builtin>{Builtin::TANH, Builtin::RESHAPE});
  const std::vector<int32_t>& outputs = file.file.subgraphs[0].outputs;
  CHECK(outputs[0] != outputs[1]);
}

TEST_CASE("an operation without a form is refused by name and line") {
  Net net;
  net.builder.set_source("net.py:7");
  const OperandId x = net.input({1, 4});
  net.output(net.builder.add(OperationCode::RANK, {x}, nnapi::testing::float_type({1})));
  const ConvertedFile file = converted(net.model);
  REQUIRE(file.refusals.size() == 1);
  CHECK(file.refusals[0].op == "RANK");
  CHECK(file.refusals[0].where == "net.py:7");
}
