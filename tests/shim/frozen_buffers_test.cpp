// SPDX-License-Identifier: BSD-3-Clause
// Samples of version 2, written once: they have to be read for ever.
#include <cstring>

#include "tests/shim/buffer_checks.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using format::Layout;
using format::ValueSource;

namespace {

using Ids = std::vector<uint32_t>;

MadeBuffer read_sample(const std::string& name) {
  const std::string path = source_folder(SOURCE_FOLDER) + "/testdata/buffers/" + name;
  const std::vector<uint8_t> bytes = read_file(path + ".bin");
  REQUIRE(bytes.size() % 4 == 0);
  MadeBuffer sample;
  sample.words.resize(bytes.size() / 4);
  std::memcpy(sample.words.data(), bytes.data(), bytes.size());
  sample.weights = read_file(path + ".weights");
  return sample;
}

Ids dims_of(const OperandView& operand) {
  return {operand.dims, operand.dims + operand.rank};
}

}  // namespace

TEST_CASE("frozen buffers: v2_full_net, its main model") {
  const MadeBuffer sample = read_sample("v2_full_net");
  const auto buffer = parse_good(sample);
  CHECK(buffer->weights_match(sample.weights.data()));
  const ModelView view = bind_good(*buffer, Shapes({{2, 3, 5, 6}, {1}}));
  CHECK(view.feature_level == 4);
  CHECK(view.preference == 1);
  CHECK(view.relax_fp16);
  REQUIRE(view.models.size() == 3);
  const SubgraphView& main = view.models[0];
  REQUIRE(main.operands.size() == 13);
  const std::vector<int32_t> types = {5, 9, 11, 4, 1, 1, 5, 4, 5, 15, 15, 5, 6};
  const std::vector<Ids> dims = {{2, 5, 6, 3}, {1},     {2, 1, 1, 3}, {2}, {},      {}, {2, 5, 6, 2},
                                 {2},          {2, 60}, {},           {},  {2, 60}, {}};
  const std::vector<std::string> names = {"image", "condition", "conv.weight", "conv.bias", "stride and padding",
                                          "none",  "conv",      "shape",       "rows",      "then",
                                          "else",  "out",       "nchw"};
  for (size_t i = 0; i < types.size(); ++i) {
    CHECK(main.operands[i].type == types[i]);
    CHECK(dims_of(main.operands[i]) == dims[i]);
    CHECK(main.operands[i].name == names[i]);
  }
  CHECK(main.operands[0].scale == 0.25f);
  CHECK(main.operands[0].zero_point == 128);
  CHECK(main.operands[2].channel_axis == 0);
  REQUIRE(main.operands[2].channel_scale_count == 2);
  CHECK(main.operands[2].channel_scales[0] == 0.125f);
  CHECK(main.operands[2].channel_scales[1] == 0.0625f);
  REQUIRE(main.operations.size() == 3);
  const Ids conv = {0, 2, 3, 5, 5, 5, 5, 4, 4, 5, 12};
  CHECK(Ids(main.operations[0].inputs, main.operations[0].inputs + main.operations[0].input_count) == conv);
  CHECK(main.operations[0].code == 3);
  CHECK(main.operations[1].code == 22);
  CHECK(main.operations[1].source == std::string("net.py:6"));
  CHECK(main.operations[2].code == 96);
  CHECK(main.operations[2].outputs[0] == 11);
  CHECK(main.input_operands == Ids{0, 1});
  CHECK(main.inputs[0].layout == Layout::kNhwc);
  CHECK(main.inputs[1].argument == 1);
  CHECK(main.output_operands == Ids{11, 6});
  CHECK(main.outputs[1].layout == Layout::kNhwc);
}

TEST_CASE("frozen buffers: v2_full_net, its values and subgraphs") {
  const MadeBuffer sample = read_sample("v2_full_net");
  const ModelView view = bind_good(*parse_good(sample), Shapes({{2, 3, 5, 6}, {1}}));
  const SubgraphView& main = view.models[0];
  REQUIRE(main.values.size() == 8);
  const Ids operands = {2, 3, 4, 5, 7, 9, 10, 12};
  const std::vector<ValueSource> sources = {ValueSource::kWeight,    ValueSource::kWeight,    ValueSource::kImmediate,
                                            ValueSource::kImmediate, ValueSource::kImmediate, ValueSource::kModel,
                                            ValueSource::kModel,     ValueSource::kOmitted};
  for (size_t i = 0; i < operands.size(); ++i) {
    CHECK(main.values[i].operand == operands[i]);
    CHECK(main.values[i].source == sources[i]);
  }
  CHECK(main.values[0].length == 6);
  CHECK(sample.weights[5] == 253);
  CHECK(main.values[1].offset == 64);
  CHECK(main.values[1].length == 8);
  int32_t shape[2] = {};
  REQUIRE(main.values[4].length == sizeof shape);
  std::memcpy(shape, main.values[4].data, sizeof shape);
  CHECK(shape[0] == 2);
  CHECK(shape[1] == 60);
  CHECK(main.values[5].model == 1);
  CHECK(main.values[6].model == 2);
  for (size_t i = 1; i < 3; ++i) {
    const SubgraphView& branch = view.models[i];
    REQUIRE(branch.operations.size() == 1);
    CHECK(branch.operations[0].code == (i == 1 ? 0 : 18));
    CHECK(dims_of(branch.operands[2]) == Ids{2, 60});
    CHECK(branch.input_operands == Ids{0});
    CHECK(branch.inputs[0].argument == -1);
    CHECK(branch.output_operands == Ids{2});
  }
}

TEST_CASE("frozen buffers: v3_float16") {
  const MadeBuffer sample = read_sample("v3_float16");
  REQUIRE(sample.weights.size() == 128);
  const ModelView view = bind_good(*parse_good(sample), Shapes({{2, 64}}));
  REQUIRE(view.models.size() == 1);
  REQUIRE(view.models[0].values.size() == 2);
  const ValueView& weight = view.models[0].values[0];
  CHECK(weight.operand == 1);
  CHECK(weight.source == ValueSource::kFloat16Weight);
  CHECK(weight.offset == 0);
  CHECK(weight.length == 128);
  CHECK(view.models[0].operands[1].type == 3);
  CHECK(dims_of(view.models[0].operands[1]) == Ids{64});
}

TEST_CASE("frozen buffers: v6_int8") {
  const MadeBuffer sample = read_sample("v6_int8");
  REQUIRE(sample.weights.size() == 64);
  const auto buffer = parse_good(sample);
  CHECK(buffer->sample_count() == 0);
  const ModelView view = bind_good(*buffer, Shapes({{2, 64}}));
  REQUIRE(view.models.size() == 1);
  REQUIRE(view.models[0].values.size() == 2);
  const ValueView& weight = view.models[0].values[0];
  CHECK(weight.operand == 1);
  CHECK(weight.source == ValueSource::kInt8Weight);
  CHECK(weight.offset == 0);
  CHECK(weight.length == 64);
  const OperandView& operand = view.models[0].operands[1];
  CHECK(operand.type == 3);
  CHECK(dims_of(operand) == Ids{64});
  CHECK(operand.channel_axis == 0);
  REQUIRE(operand.channel_scale_count == 64);
  CHECK(operand.channel_scales[62] == 0.0625f);
  CHECK(operand.channel_scales[63] == -0.125f);
}

TEST_CASE("frozen buffers: v7_conditions") {
  const MadeBuffer sample = read_sample("v7_conditions");
  REQUIRE(sample.weights.size() == 6);
  const auto buffer = parse_good(sample);
  CHECK(buffer->sample_count() == 0);
  CHECK(bind_good(*buffer, Shapes({{3, 2, 1, 1}})).models[0].operands[5].dims[0] == 3);
  CHECK(bind_refusal(*buffer, Shapes({{2, 2, 1, 1}})) == "input x: size 0: 2 found, 3 or more needed");
  CHECK(bind_refusal(*buffer, Shapes({{10, 2, 1, 1}})) == "input x: size 0: 10 found, 9 or less needed");
  CHECK(bind_refusal(*buffer, Shapes({{4, 2, 1, 1}})) ==
        "sizes: size 0 of x % 3: 4 found, 3*(size 0 of x // 3) needed");
}

TEST_CASE("frozen buffers: v4_samples") {
  const MadeBuffer frozen = read_sample("v4_samples");
  REQUIRE(frozen.weights.size() == 256);
  const auto buffer = parse_good(frozen);
  REQUIRE(buffer->sample_count() == 2);
  Sample made, stored;
  REQUIRE(buffer->read_sample(0, &made, nullptr) == NNAPI_SHIM_OK);
  REQUIRE(buffer->read_sample(1, &stored, nullptr) == NNAPI_SHIM_OK);
  CHECK(made.sizes == std::vector<int64_t>{2, 64});
  CHECK(stored.sizes == std::vector<int64_t>{1, 64});
  const auto number = [](const std::vector<uint8_t>& bytes, size_t i) {
    float value = 0;
    std::memcpy(&value, &bytes[4 * i], sizeof value);
    return value;
  };
  REQUIRE(stored.inputs[0].size() == 256);
  CHECK(number(stored.inputs[0], 63) == 63.0f / 16);
  REQUIRE(made.outputs.size() == 1);
  CHECK(made.outputs[0].step == 3);
  CHECK(made.outputs[0].most_difference == 0.001f);
  // What the generator makes is what was expected then.
  for (size_t i = 0; i < 128; i += 3) {
    const float x = number(made.inputs[0], i);
    float expected = 0;
    std::memcpy(&expected, made.outputs[0].elements + 4 * (i / 3), sizeof expected);
    CHECK(expected == Approx((x + 1.5f) * (x + 1.5f) + 1.5f));
  }
}
