// SPDX-License-Identifier: BSD-3-Clause
// Buffers that are right: every field as it was described, and flexible sizes computed.
#include "lib/shim/model_buffer.h"

#include <cstring>
#include <utility>

#include "tests/shim/buffer_checks.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using format::ExpressionKind;
using format::Layout;
using format::ValueSource;

namespace {

std::vector<uint32_t> dims_of(const OperandView& operand) {
  return {operand.dims, operand.dims + operand.rank};
}

std::vector<uint32_t> ids(const uint32_t* first, uint32_t count) {
  return {first, first + count};
}

std::vector<uint8_t> bytes_of(const ValueView& value) {
  const auto* bytes = static_cast<const uint8_t*>(value.data);
  return {bytes, bytes + value.length};
}

using Dims = std::vector<uint32_t>;

}  // namespace

TEST_CASE("a small net: header, operands, values, operations, boundary") {
  const MadeBuffer made = make_buffer(add_net());
  const auto buffer = parse_good(made);
  CHECK(buffer->argument_count() == 1);
  CHECK(buffer->input_count() == 1);
  CHECK(buffer->output_count() == 1);
  CHECK(buffer->feature_level() == 1);
  CHECK(buffer->weight_bytes() == 24);
  CHECK_FALSE(buffer->is_flexible());
  CHECK(buffer->words() == made.words);
  const ModelView view = bind_good(*buffer, Shapes({{2, 3}}));
  CHECK(view.feature_level == 1);
  CHECK(view.preference == 1);
  CHECK_FALSE(view.relax_fp16);
  CHECK(view.words->data() == buffer->words().data());  // no copy where nothing is flexible
  REQUIRE(view.models.size() == 1);
  const SubgraphView& model = view.models[0];
  REQUIRE(model.operands.size() == 4);
  CHECK(model.operands[0].type == 3);
  CHECK(dims_of(model.operands[0]) == Dims{2, 3});
  CHECK(model.operands[2].type == 1);
  CHECK(model.operands[2].rank == 0);
  CHECK(model.operands[0].name == std::string());  // stripped
  REQUIRE(model.values.size() == 2);
  CHECK(model.values[0].operand == 1);
  CHECK(model.values[0].source == ValueSource::kWeight);
  CHECK(model.values[0].offset == 0);
  CHECK(model.values[0].length == 24);
  CHECK(bytes_of(model.values[1]) == std::vector<uint8_t>(4));
  REQUIRE(model.operations.size() == 1);
  CHECK(model.operations[0].code == 0);
  CHECK(ids(model.operations[0].inputs, 3) == Dims{0, 1, 2});
  CHECK(ids(model.operations[0].outputs, 1) == Dims{3});
  CHECK(model.operations[0].name == std::string());
  CHECK(model.operations[0].source == std::string());
  CHECK(model.input_operands == Dims{0});
  CHECK(model.output_operands == Dims{3});
  CHECK(model.inputs[0].argument == 0);
}

TEST_CASE("words need no alignment") {
  const MadeBuffer made = make_buffer(add_net());
  std::vector<uint8_t> bytes(1 + made.words.size() * 4);
  std::memcpy(&bytes[1], made.words.data(), made.words.size() * 4);
  nnapi_shim_error error{};
  CHECK(ModelBuffer::parse(&bytes[1], made.words.size(), made.weights.size(), &error) != nullptr);
}

TEST_CASE("weights are compared with their checksum") {
  MadeBuffer made = make_buffer(add_net());
  const auto buffer = parse_good(made);
  CHECK(buffer->weights_match(made.weights.data()));
  made.weights[5] ^= 1;
  CHECK_FALSE(buffer->weights_match(made.weights.data()));
}

TEST_CASE("flexible sizes: dimensions and values of all models") {
  const auto buffer = parse_good(make_buffer(full_net()));
  CHECK(buffer->is_flexible());
  const ModelView view = bind_good(*buffer, Shapes({{5, 3, 7, 2}, {1}}));
  REQUIRE(view.models.size() == 3);
  const SubgraphView& main = view.models[0];
  CHECK(dims_of(main.operands[0]) == Dims{5, 7, 2, 3});
  CHECK(dims_of(main.operands[6]) == Dims{5, 7, 2, 2});
  CHECK(dims_of(main.operands[8]) == Dims{5, 28});
  CHECK(dims_of(main.operands[11]) == Dims{5, 28});
  CHECK(bytes_of(main.values[4]) == testing::bytes_of(std::vector<int32_t>{5, 28}));
  CHECK(dims_of(view.models[1].operands[2]) == Dims{5, 28});
  CHECK(dims_of(view.models[2].operands[0]) == Dims{5, 28});
}

TEST_CASE("a size that follows from another one is compared at its axis") {
  Description net = full_net();
  std::vector<Size>& dims = net.models[0].operands[0].dims;  // NHWC
  std::swap(dims[1], dims[2]);
  const auto buffer = parse_good(make_buffer(net));
  nnapi_shim_error error{};
  ModelView view;
  const Shapes square({{1, 3, 4, 4}, {1}}), turned({{1, 3, 2, 4}, {1}});
  CHECK(buffer->bind(square.shapes.data(), 2, &view, &error) == NNAPI_SHIM_OK);
  CHECK(buffer->bind(turned.shapes.data(), 2, &view, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(error.message, Catch::Contains("axis 2 of argument 0 has size 2, 4 needed: it follows from other sizes"));
}

TEST_CASE("a view outlives its buffer, and another of other sizes") {
  auto buffer = parse_good(make_buffer(full_net()));
  const ModelView first = bind_good(*buffer, Shapes({{1, 3, 2, 2}, {1}}));
  const ModelView second = bind_good(*buffer, Shapes({{1, 3, 4, 4}, {1}}));
  buffer.reset();
  CHECK(dims_of(first.models[0].operands[8]) == Dims{1, 8});
  CHECK(dims_of(second.models[0].operands[8]) == Dims{1, 32});
  CHECK(first.models[0].operations[0].name == std::string("CONV_2D"));
}

TEST_CASE("per-channel scales, subgraphs, omitted operands, layouts, flags") {
  const ModelView view = bind_good(*parse_good(make_buffer(full_net())), Shapes({{1, 3, 2, 2}, {1}}));
  CHECK(view.feature_level == 4);
  CHECK(view.relax_fp16);
  const SubgraphView& main = view.models[0];
  const OperandView& weight = main.operands[2];
  CHECK(weight.channel_axis == 0);
  REQUIRE(weight.channel_scale_count == 2);
  CHECK(weight.channel_scales[0] == 0.125f);
  CHECK(weight.channel_scales[1] == 0.0625f);
  CHECK(main.operands[0].scale == 0.25f);
  CHECK(main.operands[0].zero_point == 128);
  CHECK(main.operands[0].channel_axis == -1);
  CHECK(main.values[1].offset == 64);
  CHECK(main.values[1].length == 8);
  CHECK(main.values[5].source == ValueSource::kModel);
  CHECK(main.values[5].model == 1);
  CHECK(main.values[6].model == 2);
  CHECK(main.values[7].source == ValueSource::kOmitted);
  CHECK(main.values[7].operand == 12);
  CHECK(main.inputs[0].layout == Layout::kNhwc);
  CHECK(main.inputs[1].layout == Layout::kSame);
  CHECK(main.inputs[1].argument == 1);
  CHECK(main.outputs[1].layout == Layout::kNhwc);
  CHECK(main.output_operands == Dims{11, 6});
  CHECK(view.models[1].inputs[0].argument == -1);
  CHECK(view.models[2].operations[0].code == 18);
}

TEST_CASE("names and source lines") {
  Description net = full_net();
  const ModelView view = bind_good(*parse_good(make_buffer(net)), Shapes({{1, 3, 2, 2}, {1}}));
  CHECK(view.models[0].operands[2].name == std::string("conv.weight"));
  CHECK(view.models[0].operations[1].name == std::string("RESHAPE"));
  CHECK(view.models[0].operations[1].source == std::string("net.py:6"));
  CHECK(view.models[0].operations[2].source == std::string());
  CHECK(view.models[1].operations[0].source == std::string("net.py:9"));
  net.stripped = true;
  const ModelView stripped = bind_good(*parse_good(make_buffer(net)), Shapes({{1, 3, 2, 2}, {1}}));
  CHECK(stripped.models[0].operands[2].name == std::string());
  CHECK(stripped.models[0].operations[1].source == std::string());
}

TEST_CASE("expressions: floor division rounds down") {
  // The value of the last expression as an immediate INT32.
  const auto value = [](std::vector<Expression> expressions, int64_t size) {
    Description net = add_net();
    net.arguments = {{2, 3}, {0}};
    const auto last = static_cast<uint32_t>(expressions.size() - 1);
    net.expressions = std::move(expressions);
    net.models[0].values[1].flexible = {{0, last}};
    const ModelView view = bind_good(*parse_good(make_buffer(net)), Shapes({{2, 3}, {size}}));
    int32_t result = 0;
    std::memcpy(&result, view.models[0].values[1].data, sizeof result);
    return result;
  };
  const Expression size = {ExpressionKind::kSize, 1, 0}, minus_5 = {ExpressionKind::kNumber, -5, -1},
                   two = {ExpressionKind::kNumber, 2, 0};
  CHECK(value({size}, 2147483647) == 2147483647);
  CHECK(value({size, minus_5, two, {ExpressionKind::kSum, 0, 1}, {ExpressionKind::kFloorDiv, 3, 2}}, 4) == -1);
  CHECK(value({size, minus_5, two, {ExpressionKind::kSum, 0, 1}, {ExpressionKind::kFloorDiv, 3, 2}}, 3) == -1);
  CHECK(value({size, minus_5, two, {ExpressionKind::kSum, 0, 1}, {ExpressionKind::kFloorDiv, 3, 2}}, 2) == -2);
  CHECK(value({size, minus_5, two, {ExpressionKind::kSum, 0, 1}, {ExpressionKind::kFloorDiv, 3, 2}}, 8) == 1);
  CHECK(value({{ExpressionKind::kNumber, 0, -0x7fffffff - 1},
               size,
               {ExpressionKind::kFloorDiv, 0, 1},
               {ExpressionKind::kFloorDiv, 2, 1},
               {ExpressionKind::kFloorDiv, 3, 1}},
              65536) == -32768);
}

TEST_CASE("shapes that break a condition are refused, and each other shape is taken") {
  const auto buffer = parse_good(make_buffer(conditional_net()));
  for (const int64_t side : {2, 5, 8}) CHECK(bind_good(*buffer, Shapes({{1, 3, side, side}, {1}})).models.size() == 3);
  CHECK(bind_refusal(*buffer, Shapes({{1, 3, 4, 5}, {1}})) == "input x: size 3: 5 found, size 2 of x needed");
  CHECK(bind_refusal(*buffer, Shapes({{1, 3, 1, 1}, {1}})) == "input x: size 2: 1 found, 2 or more needed");
  CHECK(bind_refusal(*buffer, Shapes({{1, 3, 9, 9}, {1}})) ==
        "sizes: size 2 of x * size 3 of x: 81 found, 64 or less needed");
}
