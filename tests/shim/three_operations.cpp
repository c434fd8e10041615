// SPDX-License-Identifier: BSD-3-Clause
// See three_operations.h.
#include "tests/shim/three_operations.h"

namespace nnapi_shim::testing {

Description three_operations() {
  constexpr int32_t kInt32 = 1, kFloats = 3, kAdd = 0, kMul = 18;
  Description net;
  net.stripped = false;
  net.arguments = {{0, 64}};
  net.expressions = {{format::ExpressionKind::kSize, 0, 0}};
  const std::vector<Size> dims = {Size::of_expression(0), 64};
  Model model;
  const auto add_operand = [&](int32_t type, const std::vector<Size>& sizes, const std::string& name) {
    Operand operand;
    operand.type = type;
    operand.dims = sizes;
    operand.name = name;
    model.operands.push_back(operand);
  };
  add_operand(kFloats, dims, "x");
  add_operand(kFloats, {64}, "weight");
  add_operand(kInt32, {}, "none");
  for (const char* name : {"a", "b", "y"}) add_operand(kFloats, dims, name);
  Value weight;
  weight.operand = 1;
  weight.source = format::ValueSource::kWeight;
  weight.bytes = bytes_of(std::vector<float>(64, 1.5f));
  Value none;
  none.operand = 2;
  none.bytes = bytes_of(std::vector<int32_t>{0});
  model.values = {weight, none};
  model.operations = {{kAdd, {0, 1, 2}, {3}, "first", "net.py:3"},
                      {kMul, {3, 3, 2}, {4}, "second", "net.py:4"},
                      {kAdd, {4, 1, 2}, {5}, "third", "net.py:5"}};
  model.inputs = {{0, 0, format::Layout::kSame}};
  model.outputs = {{5, format::Layout::kSame}};
  net.models = {model};
  return net;
}

Description three_operations_float16() {
  Description net = three_operations();
  net.version = 3;
  Value& weight = net.models[0].values[0];
  weight.source = format::ValueSource::kFloat16Weight;
  weight.bytes.clear();
  for (int i = 0; i < 64; ++i) weight.bytes.insert(weight.bytes.end(), {0x00, 0x3E});  // 1.5
  return net;
}

Description three_operations_int8() {
  Description net = three_operations();
  net.version = 6;
  net.models[0].operands[1].channel_axis = 0;
  Value& weight = net.models[0].values[0];
  weight.source = format::ValueSource::kInt8Weight;
  weight.bytes.clear();
  for (int i = 0; i < 32; ++i) {
    net.models[0].operands[1].channel_scales.insert(net.models[0].operands[1].channel_scales.end(), {0.0625f, -0.125f});
    weight.bytes.insert(weight.bytes.end(), {24, 0xF4});  // 24 and -12
  }
  return net;
}

}  // namespace nnapi_shim::testing
