// SPDX-License-Identifier: BSD-3-Clause
// The nets of tests/shim/buffer_maker.h.
#include "tests/shim/buffer_maker.h"

namespace nnapi_shim::testing {
namespace {

using format::ExpressionKind;
using format::Layout;
using format::ValueSource;

enum Type : int32_t {
  kInt32 = 1,
  kFloats = 3,
  kInts = 4,
  kQuants = 5,
  kBool = 6,
  kBools = 9,
  kPerChannel = 11,
  kModelType = 15,
};
enum Code : int32_t { kAdd = 0, kConv = 3, kLstm = 16, kMul = 18, kReshape = 22, kIf = 96 };

Value immediate(uint32_t operand, std::vector<uint8_t> bytes) {
  Value value;
  value.operand = operand;
  value.bytes = std::move(bytes);
  return value;
}

Value weight(uint32_t operand, std::vector<uint8_t> bytes) {
  Value value = immediate(operand, std::move(bytes));
  value.source = ValueSource::kWeight;
  return value;
}

Value model_value(uint32_t operand, uint32_t model) {
  Value value;
  value.operand = operand;
  value.source = ValueSource::kModel;
  value.model = model;
  return value;
}

Value omitted(uint32_t operand) {
  Value value;
  value.operand = operand;
  value.source = ValueSource::kOmitted;
  return value;
}

Operand operand(int32_t type, std::vector<Size> dims, std::string name, float scale = 0, int32_t zero_point = 0) {
  Operand made;
  made.type = type;
  made.dims = std::move(dims);
  made.scale = scale;
  made.zero_point = zero_point;
  made.name = std::move(name);
  return made;
}

// y = x (operation) x, of [batch, 2 * height * width] quants.
Model branch(int32_t code, const std::vector<Size>& dims) {
  Model model;
  model.operands = {operand(kQuants, dims, "x", 0.5f, 7), operand(kInt32, {}, "activation"),
                    operand(kQuants, dims, "y", 0.5f, 7)};
  model.values = {immediate(1, bytes_of(std::vector<int32_t>{0}))};
  model.operations = {{code, {0, 0, 1}, {2}, code == kAdd ? "ADD" : "MUL", "net.py:9"}};
  model.inputs = {{0, -1, Layout::kSame}};
  model.outputs = {{2, Layout::kSame}};
  return model;
}

// CONV_2D by [2, 1, 1, 3] weights of a scale for each channel, RESHAPE to rows, IF the second argument.
Model main_model(const Size& batch, const Size& height, const Size& width, const Size& row) {
  Model model;
  model.operands = {
      operand(kQuants, {batch, height, width, 3}, "image", 0.25f, 128),
      operand(kBools, {1}, "condition"),
      operand(kPerChannel, {2, 1, 1, 3}, "conv.weight"),
      operand(kInts, {2}, "conv.bias"),
      operand(kInt32, {}, "stride and padding"),
      operand(kInt32, {}, "none"),
      operand(kQuants, {batch, height, width, 2}, "conv", 0.5f, 7),
      operand(kInts, {2}, "shape"),
      operand(kQuants, {batch, row}, "rows", 0.5f, 7),
      operand(kModelType, {}, "then"),
      operand(kModelType, {}, "else"),
      operand(kQuants, {batch, row}, "out", 0.5f, 7),
      operand(kBool, {}, "nchw"),
  };
  model.operands[2].channel_axis = 0;
  model.operands[2].channel_scales = {0.125f, 0.0625f};
  model.values = {
      weight(2, {1, 2, 3, 255, 254, 253}),
      weight(3, bytes_of(std::vector<int32_t>{100, -100})),
      immediate(4, bytes_of(std::vector<int32_t>{1})),
      immediate(5, bytes_of(std::vector<int32_t>{0})),
      immediate(7, bytes_of(std::vector<int32_t>{0, 0})),
      model_value(9, 1),
      model_value(10, 2),
      omitted(12),
  };
  model.values[4].flexible = {{0, static_cast<uint32_t>(batch.expression)}, {1, static_cast<uint32_t>(row.expression)}};
  model.operations = {
      {kConv, {0, 2, 3, 5, 5, 5, 5, 4, 4, 5, 12}, {6}, "CONV_2D", "net.py:5"},
      {kReshape, {6, 7}, {8}, "RESHAPE", "net.py:6"},
      {kIf, {1, 9, 10, 8}, {11}, "IF", ""},
  };
  model.inputs = {{0, 0, Layout::kNhwc}, {1, 1, Layout::kSame}};
  model.outputs = {{11, Layout::kSame}, {6, Layout::kNhwc}};
  return model;
}

}  // namespace

Description add_net() {
  Description net;
  net.arguments = {{2, 3}};
  Model model;
  model.operands = {operand(kFloats, {2, 3}, "x"), operand(kFloats, {2, 3}, "weight"), operand(kInt32, {}, "none"),
                    operand(kFloats, {2, 3}, "y")};
  model.values = {weight(1, bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6})),
                  immediate(2, bytes_of(std::vector<int32_t>{0}))};
  model.operations = {{kAdd, {0, 1, 2}, {3}, "ADD", "net.py:3"}};
  model.inputs = {{0, 0, Layout::kSame}};
  model.outputs = {{3, Layout::kSame}};
  net.models = {model};
  return net;
}

Description full_net() {
  Description net;
  net.feature_level = 4;
  net.relax_fp16 = true;
  net.stripped = false;
  net.arguments = {{0, 3, 0, 0}, {1}};
  net.expressions = {
      {ExpressionKind::kSize, 0, 0},      // 0: batch
      {ExpressionKind::kSize, 0, 2},      // 1: height
      {ExpressionKind::kSize, 0, 3},      // 2: width
      {ExpressionKind::kNumber, 4, 0},    // 3
      {ExpressionKind::kProduct, 1, 2},   // 4: height * width
      {ExpressionKind::kProduct, 4, 3},   // 5: 4 * height * width
      {ExpressionKind::kNumber, -2, -1},  // 6: -2
      {ExpressionKind::kNumber, 2, 0},    // 7
      {ExpressionKind::kSum, 5, 7},       // 8
      {ExpressionKind::kSum, 8, 6},       // 9: as 5
      {ExpressionKind::kFloorDiv, 9, 7},  // 10: 2 * height * width
  };
  const Size batch = Size::of_expression(0), height = Size::of_expression(1), width = Size::of_expression(2),
             row = Size::of_expression(10);
  net.models = {main_model(batch, height, width, row), branch(kAdd, {batch, row}), branch(kMul, {batch, row})};
  return net;
}

Description conditional_net() {
  Description net = full_net();
  net.version = format::kConditionsVersion;
  net.expressions.push_back({ExpressionKind::kNumber, 64, 0});  // 11
  const auto texts = [](const char* subject, const char* needed) {
    return subject + std::string(1, '\0') + needed + std::string(1, '\0');
  };
  net.conditions = {{format::ConditionKind::kEqual, 2, 1, texts("input x: size 3:", "size 2 of x")},
                    {format::ConditionKind::kAtLeast, 1, 7, texts("input x: size 2:", "2 or more")},
                    {format::ConditionKind::kAtMost, 4, 11, texts("sizes: size 2 of x * size 3 of x:", "64 or less")}};
  return net;
}

Description page_net() {
  Description net;
  net.feature_level = 3;
  net.stripped = false;
  net.arguments = {{0, 2, 1, 1}};
  net.expressions = {{ExpressionKind::kSize, 0, 0}};
  const Size batch = Size::of_expression(0);
  Model model;
  model.operands = {
      operand(kQuants, {batch, 1, 1, 2}, "x", 0.5f, 128),
      operand(kPerChannel, {3, 1, 1, 2}, "weight"),
      operand(kInts, {3}, "bias"),
      operand(kInt32, {}, ""),
      operand(kInt32, {}, ""),
      operand(kQuants, {batch, 1, 1, 3}, "y", 1, 0),
  };
  model.operands[1].channel_axis = 0;
  model.operands[1].channel_scales = {1, 0.5f, 2};
  model.values = {weight(1, {1, 2, 3, 4, 5, 6}), immediate(2, bytes_of(std::vector<int32_t>{10, 20, -30})),
                  immediate(3, bytes_of(std::vector<int32_t>{0})), immediate(4, bytes_of(std::vector<int32_t>{1}))};
  model.operations = {{kConv, {0, 1, 2, 3, 3, 3, 3, 4, 4, 3}, {5}, "CONV_2D", "net.py:4"}};
  model.inputs = {{0, 0, Layout::kNhwc}};
  model.outputs = {{5, Layout::kNhwc}};
  net.models = {model};
  return net;
}

}  // namespace nnapi_shim::testing
