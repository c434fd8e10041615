// SPDX-License-Identifier: BSD-3-Clause
// Tests that the library rounds as Android's own CPU device does if two neighbouring codes are both defensible, and
// that the library refuses what that device refuses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "tests/host_runtime/model_checks.h"
#include "tests/host_runtime/model_spec.h"

using namespace model_spec;

namespace {

const OperandCode kFloat = OperandCode::TENSOR_FLOAT32;
const OperandCode kCodes = OperandCode::TENSOR_QUANT8_ASYMM;
const OperandCode kSigned = OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
const OperandCode kBool = OperandCode::TENSOR_BOOL8;

using Bytes = std::vector<uint8_t>;

// One operation on model inputs, then constants; its first output.
Bytes result_of(OperationCode code, const std::vector<OperandSpec>& inputs, const std::vector<Bytes>& values,
                const std::vector<OperandSpec>& constants, const OperandSpec& output, std::size_t output_bytes) {
  ModelSpec spec;
  OperationSpec only;
  only.code = code;
  for (const OperandSpec& input : inputs) only.inputs.push_back(spec.add(input));
  spec.inputs = only.inputs;
  for (const OperandSpec& constant : constants) only.inputs.push_back(spec.add(constant));
  only.outputs = {spec.add(output)};
  spec.outputs = only.outputs;
  spec.operations = {only};
  return compute(Compiled(spec), values, output_bytes);
}

Bytes signed_bytes(const std::vector<int8_t>& values) {
  return bytes_of(values);
}

}  // namespace

TEST_CASE("a mean of codes drops its fraction", "[execution]") {
  const auto mean = [](OperandCode type, const Bytes& codes) {
    const auto count = static_cast<uint32_t>(codes.size());
    return result_of(OperationCode::MEAN, {tensor(type, {count}, 0.5f)}, {codes}, {int32_list({0}), int32(1)},
                     tensor(type, {1}, 0.5f), 1);
  };
  CHECK(mean(kCodes, {1, 2}) == Bytes{1});
  CHECK(mean(kCodes, {5, 5, 6, 7, 7}) == Bytes{6});
  CHECK(mean(kCodes, {200, 199, 200, 200}) == Bytes{199});
  CHECK(mean(kSigned, signed_bytes({-1, -2})) == signed_bytes({-1}));
  CHECK(mean(kSigned, signed_bytes({-3, -3, -2, -3})) == signed_bytes({-2}));
}

TEST_CASE("products of codes are rounded once, or twice as Android's own CPU does", "[execution]") {
  // 0.3 is 0 by the nearest integer. In halves it is 0.5, and that is 1.
  const auto product = [](int8_t code, int32_t channels) {
    const auto rows = static_cast<uint32_t>(channels);
    return result_of(
        OperationCode::FULLY_CONNECTED,
        {tensor(kSigned, {1, 1}, 0.3f), tensor(kSigned, {rows, 1}, 1), tensor(OperandCode::TENSOR_INT32, {rows}, 0.3f)},
        {signed_bytes({code}), signed_bytes(std::vector<int8_t>(rows, 1)), bytes_of(std::vector<int32_t>(rows, 0))},
        {int32(0)}, tensor(kSigned, {1, rows}, 1), rows);
  };
  CHECK(product(1, 1) == signed_bytes({0}));
  CHECK(product(-1, 2) == signed_bytes({0, 0}));
  setenv("NNAPI_HOST_ROUNDING", "twice", 1);
  const Bytes one = product(1, 1), two = product(-1, 2), larger = product(100, 1);
  unsetenv("NNAPI_HOST_ROUNDING");
  CHECK(one == signed_bytes({1}));
  CHECK(two == signed_bytes({-1, -1}));
  CHECK(larger == signed_bytes({30}));
  CHECK(product(1, 1) == signed_bytes({0}));
}

TEST_CASE("integers are divided rounding down, the least by -1 and any by 0, too", "[execution]") {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  const OperandSpec five = tensor(OperandCode::TENSOR_INT32, {5});
  const std::vector<int32_t> dividends = {7, -7, kLeast, kLeast, 5}, divisors = {2, 2, -1, 1, 0};
  const std::vector<int32_t> quotients = {3, -4, kLeast, kLeast, 5};
  CHECK(result_of(OperationCode::DIV, {five, five}, {bytes_of(dividends), bytes_of(divisors)}, {int32(0)}, five, 20) ==
        bytes_of(quotients));
}

TEST_CASE("QUANTIZE divides in single precision", "[execution]") {
  const auto quantize = [](OperandCode type, float number, float scale) {
    return result_of(OperationCode::QUANTIZE, {tensor(kFloat, {1})}, {bytes_of(std::vector<float>{number})}, {},
                     tensor(type, {1}, scale), 1);
  };
  // 0.25 / 0.1f is 2.49999996, the nearest single is 2.5.
  CHECK(quantize(kCodes, 0.25f, 0.1f) == Bytes{3});
  CHECK(quantize(kSigned, -0.25f, 0.1f) == signed_bytes({-3}));
  CHECK(quantize(kCodes, std::nanf(""), 0.1f) == Bytes{255});
  CHECK(quantize(kSigned, std::nanf(""), 0.1f) == signed_bytes({127}));
}

TEST_CASE("bounds of activations are divided in single precision", "[execution]") {
  const OperandSpec codes = tensor(kCodes, {2}, 0.4f);
  CHECK(result_of(OperationCode::RELU1, {codes}, {{1, 9}}, {}, codes, 2) == Bytes{1, 3});
  CHECK(result_of(OperationCode::ADD, {codes, codes}, {{1, 9}, {0, 0}}, {int32(2)}, codes, 2) == Bytes{1, 3});
}

TEST_CASE("codes that get another scale are rounded with their zero point", "[execution]") {
  // -1.5 becomes 126.5, a half, at zero point 128.
  const OperandSpec input = tensor(kCodes, {1}, 0.5f, 10), output = tensor(kCodes, {1}, 1, 128);
  for (const OperationCode code : {OperationCode::MAXIMUM, OperationCode::MINIMUM}) {
    CHECK(result_of(code, {input, input}, {{7}, {7}}, {}, output, 1) == Bytes{127});
  }
  CHECK(result_of(OperationCode::SELECT, {tensor(kBool, {1}), input, input}, {{1}, {7}, {0}}, {}, output, 1) ==
        Bytes{127});
  ModelSpec spec;
  spec.add(tensor(kCodes, {1, 2, 2, 1}, 0.5f, 10));
  spec.add(tensor(OperandCode::TENSOR_QUANT16_ASYMM, {1, 4}, 0.125f));
  spec.add(boolean(false));
  spec.add(tensor(kCodes, {1, 1}, 1, 128));
  spec.add(tensor(OperandCode::TENSOR_QUANT16_ASYMM, {1, 1, 2}, 0.125f));
  spec.operations = {{OperationCode::HEATMAP_MAX_KEYPOINT, {0, 1, 2}, {3, 4}}};
  spec.inputs = {0, 1};
  spec.outputs = {3, 4};
  const Compiled compiled(spec);
  const Execution execution = new_execution(compiled);
  const Bytes cells(4, 7), box(8, 0);
  Bytes score(1), keypoint(4);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, cells.data(), 4) == 0);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 1, nullptr, box.data(), 8) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, score.data(), 1) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 1, nullptr, keypoint.data(), 4) == 0);
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  CHECK(score == Bytes{127});
}

TEST_CASE("codes are compared as single-precision numbers", "[execution]") {
  // 3 * 0.1f rounds to 0.3f.
  const OperandSpec tenths = tensor(kCodes, {1}, 0.1f), three_tenths = tensor(kCodes, {1}, 0.3f);
  const auto compare = [&](OperationCode code) {
    return result_of(code, {tenths, three_tenths}, {{3}, {1}}, {}, tensor(kBool, {1}), 1);
  };
  CHECK(compare(OperationCode::EQUAL) == Bytes{1});
  CHECK(compare(OperationCode::LESS) == Bytes{0});
  CHECK(compare(OperationCode::GREATER_EQUAL) == Bytes{1});
}

TEST_CASE("infinite numbers and NaN are those of Android's own CPU", "[execution]") {
  constexpr float kInfinite = std::numeric_limits<float>::infinity(), kLargest = std::numeric_limits<float>::max();
  const float none = std::nanf("");
  using Floats = std::vector<float>;
  const auto same = [](const Bytes& found, const Floats& needed) {
    Floats numbers(found.size() / sizeof(float));
    std::memcpy(numbers.data(), found.data(), found.size());
    return std::equal(numbers.begin(), numbers.end(), needed.begin(), needed.end(),
                      [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); });
  };
  const OperandSpec four = tensor(kFloat, {4});
  const auto pair = [&](OperationCode code, const Floats& a, const Floats& b, const std::vector<OperandSpec>& more) {
    return result_of(code, {four, four}, {bytes_of(a), bytes_of(b)}, more, four, 16);
  };
  const auto single = [&](OperationCode code, const Floats& x, const std::vector<OperandSpec>& more = {}) {
    return result_of(code, {four}, {bytes_of(x)}, more, four, 16);
  };
  const auto reduced = [&](OperationCode code, const Floats& x) {
    return result_of(code, {four}, {bytes_of(x)}, {int32_list({0}), boolean(false)}, tensor(kFloat, {1}), 4);
  };
  const Floats special = {kInfinite, -kInfinite, none, 3e38f};
  SECTION("arithmetic clamps without an activation, too, and leaves NaN") {
    CHECK(same(pair(OperationCode::ADD, special, {1, 1, 1, 3e38f}, {int32(0)}), {kLargest, -kLargest, none, kLargest}));
    CHECK(same(pair(OperationCode::SUB, special, {1, 1, 1, 1}, {int32(0)}), {kLargest, -kLargest, none, 3e38f}));
    CHECK(same(pair(OperationCode::MUL, special, {1, 1, 1, 10}, {int32(0)}), {kLargest, -kLargest, none, kLargest}));
    CHECK(same(pair(OperationCode::DIV, {1, -1, 0, 1}, {0, 0, 0, 2}, {int32(0)}), {kLargest, -kLargest, none, 0.5f}));
    CHECK(same(pair(OperationCode::ADD, special, {1, 1, 1, 1}, {int32(1)}), {kLargest, 0, none, 3e38f}));
  }
  SECTION("RELU and its kin give their lower bound for NaN") {
    CHECK(same(single(OperationCode::RELU, special), {kLargest, 0, 0, 3e38f}));
    CHECK(same(single(OperationCode::RELU1, special), {1, -1, -1, 1}));
    CHECK(same(single(OperationCode::RELU6, special), {6, 0, 0, 6}));
    CHECK(same(single(OperationCode::ELU, special, {float32(1)}), {kInfinite, -1, 0, 3e38f}));
  }
  SECTION("the first operand of an extreme stays where the second one is NaN") {
    const Floats a = {none, 1, kInfinite, 2}, b = {1, none, 3, -kInfinite};
    CHECK(same(pair(OperationCode::MAXIMUM, a, b, {}), {none, 1, kInfinite, 2}));
    CHECK(same(pair(OperationCode::MINIMUM, a, b, {}), {none, 1, 3, -kInfinite}));
  }
  SECTION("reductions") {
    CHECK(same(reduced(OperationCode::REDUCE_MAX, {none, -kInfinite, 1, 2}), {2}));
    CHECK(same(reduced(OperationCode::REDUCE_MAX, {none, -kInfinite, none, none}), {-kLargest}));
    CHECK(same(reduced(OperationCode::REDUCE_MAX, special), {kInfinite}));
    CHECK(same(reduced(OperationCode::REDUCE_MIN, {none, kInfinite, none, none}), {kLargest}));
    CHECK(same(reduced(OperationCode::REDUCE_PROD, {0, kInfinite, none, 2}), {0}));
    CHECK(same(reduced(OperationCode::REDUCE_SUM, {1, kInfinite, 1, 1}), {kInfinite}));
  }
  SECTION("what moves and compares numbers") {
    CHECK(same(single(OperationCode::ABS, special), {kInfinite, kInfinite, none, 3e38f}));
    CHECK(same(single(OperationCode::FLOOR, special), {kInfinite, -kInfinite, none, 3e38f}));
    CHECK(same(single(OperationCode::EXP, {kInfinite, -kInfinite, none, 1000}), {kInfinite, 0, none, kInfinite}));
    const auto place = [&](OperationCode code, const Floats& x) {
      return result_of(code, {four}, {bytes_of(x)}, {int32(0)}, tensor(OperandCode::TENSOR_INT32, {1}), 4);
    };
    CHECK(place(OperationCode::ARGMAX, {1, none, 2, kInfinite}) == bytes_of(std::vector<int32_t>{3}));
    CHECK(place(OperationCode::ARGMAX, {none, 1, 2, 3}) == bytes_of(std::vector<int32_t>{0}));
  }
}

TEST_CASE("what Android's validation refuses", "[model]") {
  const auto model = [](OperationCode code, std::vector<OperandSpec> operands, uint32_t model_inputs) {
    ModelSpec spec;
    OperationSpec only;
    only.code = code;
    for (const OperandSpec& operand : operands) only.inputs.push_back(spec.add(operand));
    only.outputs = {only.inputs.back()};
    only.inputs.pop_back();
    for (uint32_t i = 0; i < model_inputs; ++i) spec.inputs.push_back(i);
    spec.outputs = only.outputs;
    spec.operations = {only};
    return spec;
  };
  const OperandSpec floats = tensor(kFloat, {2, 3});
  SECTION("axes from the end, where only some operations take them") {
    accepts(model(OperationCode::CONCATENATION, {floats, floats, int32(1), tensor(kFloat, {2, 6})}, 2));
    refuses(model(OperationCode::CONCATENATION, {floats, floats, int32(-1), tensor(kFloat, {2, 6})}, 2),
            "argument axis: -1 found, 0 to 1 needed");
    ModelSpec pack = model(OperationCode::PACK, {int32(-1), floats, tensor(kFloat, {2, 3, 1})}, 0);
    pack.inputs = {1};
    refuses(pack, "argument axis: -1 found, 0 to 2 needed");
    refuses(model(OperationCode::REVERSE, {floats, int32_list({-1}), floats}, 1),
            "argument axis: -1 found, 0 to 1 needed");
    accepts(model(OperationCode::GATHER, {floats, int32(-1), int32_list({0, 1, 2}), floats}, 1));
  }
  SECTION("a convolution's padding reaches no further than its filter") {
    const auto conv = [&](int32_t padding, int32_t dilation, uint32_t extent) {
      std::vector<OperandSpec> operands = {tensor(kFloat, {1, 4, 4, 1}),
                                           constant(kFloat, {1, 2, 2, 1}, std::vector<float>(4, 1)),
                                           constant(kFloat, {1}, std::vector<float>{0})};
      for (const int32_t value : {padding, 0, 0, 0, 1, 1, 0}) operands.push_back(int32(value));
      operands.push_back(boolean(false));
      for (int i = 0; i < 2; ++i) operands.push_back(int32(dilation));
      operands.push_back(tensor(kFloat, {1, extent, extent + static_cast<uint32_t>(padding), 1}));
      return model(OperationCode::CONV_2D, operands, 1);
    };
    accepts(conv(1, 1, 3));
    refuses(conv(2, 1, 3), "argument padding_left: 2 found, less than the filter's 2 needed");
    accepts(conv(2, 2, 2));
    refuses(conv(3, 2, 2), "argument padding_left: 3 found, less than the filter's 3 needed");
  }
  SECTION("booleans are cast to booleans only") {
    const OperandSpec flags = tensor(kBool, {2});
    accepts(model(OperationCode::CAST, {flags, flags}, 1));
    refuses(model(OperationCode::CAST, {flags, tensor(kFloat, {2})}, 1),
            "argument output: TENSOR_FLOAT32 found, TENSOR_BOOL8 needed");
  }
}
