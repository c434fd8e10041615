// SPDX-License-Identifier: BSD-3-Clause
// Tests the operations that device profiles accept and refuse, files that are no profiles, and models fitted to a
// device.
#include "lib/nnapi/device_profile.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "lib/base/error.h"
#include "lib/nnapi/passes/fit_device.h"
#include "lib/nnapi/passes/optimise.h"
#include "lib/nnapi/shipped_profiles.h"
#include "tests/nnapi/interpreter.h"
#include "tests/nnapi/small_models.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;
using namespace nnapi_convert::nnapi;
using testing::codes;
using testing::count;
using testing::Net;
using testing::the;

namespace {

const std::string kDevice =
    R"("version": 1, "device": {"name": "d", "version": "1", "type": "gpu", "feature_level": 3})";

DeviceProfile parsed(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("profile.json");
  std::ofstream(path) << text;
  return DeviceProfile::read(path);
}

DeviceProfile with(const std::string& rules) {
  return parsed("{" + kDevice + (rules.empty() ? "" : ", " + rules) + "}");
}

// A convolution of [1, 3, height, width] in NCHW.
struct Convolution {
  int64_t height = 8, width = 8, filter = 3, stride = 1;
  std::vector<int64_t> padding = {1, 1, 1, 1};  // left, right, top, bottom
  bool constant_weights = true;
};

void build(Net& net, const Convolution& convolution) {
  const OperandId input = net.input({1, 3, convolution.height, convolution.width});
  const OperandId output = net.conv(input, 4);
  Operation& operation = net.model.operations.back();
  operation.inputs[1] = convolution.constant_weights ? net.weights({4, convolution.filter, convolution.filter, 3})
                                                     : net.input({4, convolution.filter, convolution.filter, 3});
  for (size_t i = 0; i < 4; ++i) operation.inputs[3 + i] = net.builder.int32(convolution.padding[i]);
  for (size_t i = 0; i < 2; ++i) operation.inputs[7 + i] = net.builder.int32(convolution.stride);
  const auto size = [&](int64_t extent, size_t side) {
    return (extent + convolution.padding[side] + convolution.padding[side + 1] - convolution.filter) /
               convolution.stride +
           1;
  };
  net.model.at(output).dims = {1, 4, size(convolution.height, 2), size(convolution.width, 0)};
  net.output(output);
}

std::optional<PaddingStyle> style(const Convolution& convolution) {
  Net net;
  build(net, convolution);
  return padding_style(net.model, net.model.operations[0]);
}

bool takes(const DeviceProfile& profile, const Convolution& convolution) {
  Net net;
  build(net, convolution);
  return profile.refusal(net.model, net.model.operations[0]).empty();
}

}  // namespace

TEST_CASE("device_profile: padding is SAME where it gives ceil(size / stride) windows, the odd one behind") {
  for (int64_t size = 4; size <= 9; ++size) {
    for (int64_t stride = 1; stride <= 3; ++stride) {
      for (int64_t filter = 1; filter <= 4; ++filter) {
        int64_t added = 0;  // what is needed so that the last window, which begins before the end, has room
        while ((size + added - filter) / stride + 1 < (size + stride - 1) / stride || size + added < filter) ++added;
        const int64_t before = added / 2, after = added - before;
        const auto expected = added == 0 ? PaddingStyle::kValid : PaddingStyle::kSame;
        CHECK(style({size, size, filter, stride, {before, after, before, after}}) == expected);
        CHECK(style({size, size, filter, stride, {before, after + 1, before, after}}) == PaddingStyle::kExplicit);
        if (before != after) {
          CHECK(style({size, size, filter, stride, {after, before, after, before}}) == PaddingStyle::kExplicit);
        }
      }
    }
  }
}

TEST_CASE("device_profile: sizes that aren't known make no SAME") {
  Net net;
  const OperandId input = net.input({1, 3, Dim::of_input(0, 2), 8});
  net.output(net.conv(input, 4));
  CHECK(padding_style(net.model, net.model.operations[0]) == PaddingStyle::kExplicit);
}

TEST_CASE("device_profile: each condition") {
  CHECK(takes(with(""), {}));
  CHECK(takes(with(R"("accepts": [{"operations": ["ADD", "CONV_2D"]}])"), {}));
  CHECK_FALSE(takes(with(R"("accepts": [{"operations": ["ADD"]}])"), {}));
  CHECK_FALSE(takes(with(R"("accepts": [])"), {}));
  CHECK_FALSE(takes(with(R"("refuses": [{"layouts": ["NCHW"]}])"), {}));
  CHECK(takes(with(R"("refuses": [{"layouts": ["NHWC"]}])"), {}));
  CHECK_FALSE(takes(with(R"("refuses": [{"paddings": ["SAME"]}])"), {}));
  CHECK(takes(with(R"("refuses": [{"paddings": ["EXPLICIT", "VALID"]}])"), {}));
  CHECK_FALSE(takes(with(R"("refuses": [{"types": {"*": ["TENSOR_FLOAT32"]}}])"), {}));
  CHECK_FALSE(
      takes(with(R"("refuses": [{"types": {"filter": ["TENSOR_FLOAT32"], "output": ["TENSOR_FLOAT32"]}}])"), {}));
  CHECK(takes(with(R"("refuses": [{"types": {"filter": ["TENSOR_QUANT8_ASYMM"]}}])"), {}));
  CHECK_FALSE(takes(with(R"("refuses": [{"ranks": {"bias": [1, 1]}}])"), {}));
  CHECK(takes(with(R"("refuses": [{"ranks": {"input": [0, 3]}}])"), {}));
  CHECK(takes(with(R"("refuses": [{"strides": [2, 9]}])"), {}));
  CHECK_FALSE(takes(with(R"("refuses": [{"strides": [2, 9]}])"), {8, 8, 3, 2}));
  const DeviceProfile constant = with(R"("refuses": [{"constants": {"filter": false}, "reason": "no"}])");
  CHECK(takes(constant, {}));
  Convolution computed;
  computed.constant_weights = false;
  CHECK_FALSE(takes(constant, computed));
}

TEST_CASE("device_profile: sizes, and what stands before an operation") {
  Net net;
  const OperandId input = net.input({1, 3, 8, 8});
  net.conv(input, 4);
  Operation& first = net.model.operations.back();
  net.conv(first.outputs[0], 4);
  const auto refused = [&](const std::string& rule) {
    std::vector<bool> result;
    const DeviceProfile profile = with(R"("refuses": [{)" + rule + "}]");
    for (const Operation& operation : net.model.operations) {
      result.push_back(profile.refusal(net.model, operation) == "a rule of the profile refuses it");
    }
    return result;
  };
  using Each = std::vector<bool>;
  CHECK(refused(R"("after": ["INPUT"])") == Each{true, false});
  CHECK(refused(R"("after": ["CONV_2D"])") == Each{false, true});
  CHECK(refused(R"("after": ["ADD"])") == Each{false, false});
  CHECK(refused(R"("sizes": {"input": [[1, 3, 8, 8]]})") == Each{true, false});
  CHECK(refused(R"("sizes": {"input": [[1, 0, 8, 8]]})") == Each{true, true});
  CHECK(refused(R"("sizes": {"*": [[1, 3, 8, 8], [2]]})") == Each{true, false});
  CHECK(refused(R"("sizes": {"input": [[1, 3, 8]]})") == Each{false, false});
  CHECK(with(R"("refuses": [{"operations": ["CONV_2D"], "after": ["INPUT"]}])").may_take(OperationCode::CONV_2D));
}

TEST_CASE("device_profile: refused in any form") {
  Net net;
  const OperandId convolved = net.conv(net.input({1, 3, 8, 8}), 4);
  net.output(net.unary(OperationCode::EXP, net.conv(convolved, 5)));
  const auto refused = [&](const std::string& rules) {
    std::vector<OperationCode> result;
    const IntegerRules level = IntegerRules::of(3, true);
    for (const DeviceRefusal& each : with(R"("refuses": [)" + rules + "]").refusals_in_any_form(net.model, level)) {
      result.push_back(each.code);
    }
    return result;
  };
  using Codes = std::vector<OperationCode>;
  const std::string floats = R"({"types": {"output": ["TENSOR_FLOAT32"]}})";
  CHECK(refused("").empty());
  CHECK(refused(floats) == Codes{OperationCode::EXP});
  CHECK(refused(floats + R"(, {"sizes": {"output": [[1, 5, 8, 8]]}, "operations": ["CONV_2D"]})") ==
        Codes{OperationCode::CONV_2D, OperationCode::EXP});
  CHECK(refused(floats + R"(, {"types": {"filter": ["TENSOR_QUANT8_SYMM_PER_CHANNEL"]}, "after": ["CONV_2D"]})") ==
        Codes{OperationCode::CONV_2D, OperationCode::EXP});
  CHECK(refused(R"({"types": {"filter": ["TENSOR_QUANT8_SYMM_PER_CHANNEL"]}})").empty());
}

TEST_CASE("device_profile: what the level of the device lacks is refused") {
  Net net;
  net.output(net.unary(OperationCode::HARD_SWISH, net.input({1, 4})));
  CHECK(with("").refusal(net.model, net.model.operations[0]) ==
        "the device has feature level 3, 4 needed for these arguments");
}

TEST_CASE("device_profile: kinds that it takes in no form") {
  const DeviceProfile profile = with(
      R"("accepts": [{"operations": ["ADD", "MUL", "SUB"]}, {"operations": ["RELU"], "ranks": {"input": [4, 4]}}],
         "refuses": [{"operations": ["MUL"]}, {"operations": ["SUB"], "ranks": {"*": [1, 1]}}])");
  CHECK(profile.may_take(OperationCode::ADD));
  CHECK(profile.may_take(OperationCode::RELU));
  CHECK(profile.may_take(OperationCode::SUB));
  CHECK_FALSE(profile.may_take(OperationCode::MUL));
  CHECK_FALSE(profile.may_take(OperationCode::CONV_2D));
}

TEST_CASE("device_profile: files that are none") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[", "not JSON"},
      {"[]", "an object needed"},
      {R"({"version": 1})", "key \"device\" needed"},
      {R"({"version": 2})", "2 found, version 1 needed"},
      {"{" + kDevice + R"(, "refuse": []})", ".refuse: [] found, another key needed"},
      {"{" + kDevice + R"(, "refuses": {}})", ".refuses: {} found, a list needed"},
      {"{" + kDevice + R"(, "refuses": [{"operations": ["CONV"]}]})", "refuses[0].operations[0]: \"CONV\" found"},
      {"{" + kDevice + R"(, "refuses": [{"operations": []}]})", "refuses[0].operations: [] found, a list needed"},
      {"{" + kDevice + R"(, "refuses": [{"types": {"input": ["FLOAT"]}}]})", "types.input[0]: \"FLOAT\" found"},
      {"{" + kDevice + R"(, "refuses": [{"ranks": {"input": [4, 1]}}]})", "ranks.input: [4,1] found"},
      {"{" + kDevice + R"(, "refuses": [{"paddings": ["FULL"]}]})", "SAME, VALID or EXPLICIT needed"},
      {"{" + kDevice + R"(, "refuses": [{"layouts": ["HWC"]}]})", "NHWC or NCHW needed"},
      {"{" + kDevice + R"(, "refuses": [{"constants": {"filter": 1}}]})", "true or false needed"},
      {R"({"version": 1, "device": {"name": "d", "version": "1", "type": "npu", "feature_level": 3}})", "accelerator"},
      {R"({"version": 1, "device": {"name": "d", "version": "1", "type": "gpu", "feature_level": 9}})",
       "1 to 8 needed"},
      {R"({"version": 1, "device": {"name": "d", "type": "gpu", "feature_level": 3}})", "key \"version\" needed"},
  };
  for (const auto& [text, fragment] : cases) {
    INFO(text);
    try {
      parsed(text);
      FAIL("taken");
    } catch (const ConvertError& error) {
      CHECK(error.exit_code() == ExitCode::kBadFile);
      CHECK_THAT(error.what(), Catch::StartsWith("device profile ") && Catch::Contains(fragment));
    }
  }
  CHECK_THROWS_WITH(DeviceProfile::read("/nowhere/profile.json"), Catch::Contains("No such file"));
}

TEST_CASE("device_profile: those that come with the program") {
  REQUIRE(shipped_profiles().size() == 2);
  for (const FolderFile& profile : shipped_profiles()) CHECK(find_profile(profile.name).name() == profile.name);
  CHECK_THROWS_WITH(find_profile("unknown"), Catch::Contains("armnn-1.3, quant-dsp-8.1 needed"));
  CHECK_FALSE(find_profile("armnn-1.3").may_take(OperationCode::BATCH_MATMUL));
  CHECK(find_profile("armnn-1.3").may_take(OperationCode::ELU));
  CHECK_FALSE(takes(find_profile("quant-dsp-8.1"), {}));
}

TEST_CASE("device_profile: what the driver is known to do wrong is refused") {
  const auto of_driver = [](const std::string& name, const std::string& version) {
    return parsed(R"({"version": 1, "device": {"name": ")" + name + R"(", "version": ")" + version +
                  R"(", "type": "accelerator", "feature_level": 4}})");
  };
  const DeviceProfile faulty = of_driver("qti-dsp", "1.3-21:build_lahaina");
  const auto refusal = [](const DeviceProfile& profile, const Net& net) {
    return profile.refusal(net.model, net.model.operations.back());
  };
  const auto quantised = [](Net& net) {
    for (Operand& operand : net.model.operands) {
      if (operand.type == OperandCode::TENSOR_FLOAT32) operand.type = OperandCode::TENSOR_QUANT8_ASYMM;
    }
    const Operation& last = net.model.operations.back();
    if (last.code != OperationCode::CONCATENATION) net.model.at(last.inputs[2]).type = OperandCode::TENSOR_INT32;
  };
  Net first;
  const OperandId image = first.input({1, 8, 8, 4});
  first.output(first.depthwise(image));
  CHECK(refusal(faulty, first).empty());  // of floats
  quantised(first);
  CHECK_THAT(refusal(faulty, first), Catch::StartsWith("its driver is known to be wrong: Snapdragon 888: 8-bit models "
                                                       "that begin with a depthwise convolution crash (https://"));
  CHECK(refusal(of_driver("qti-default", "2:build_lahaina"), first) == refusal(faulty, first));
  CHECK(refusal(of_driver("qti-gpu", "1.3-21:build_lahaina"), first).empty());
  CHECK(refusal(of_driver("qti-dsp", "1.3-21:build_kona"), first).empty());
  Net later;
  later.output(later.depthwise(later.unary(OperationCode::RELU, later.input({1, 8, 8, 4}))));
  quantised(later);
  CHECK(refusal(faulty, later).empty());
  for (const OperationCode before : {OperationCode::RELU, OperationCode::QUANTIZE}) {
    Net joined;
    const OperandId part = joined.unary(before, joined.input({1, 4}));
    joined.output(joined.concatenation({joined.input({1, 4}), part}, 1));
    quantised(joined);
    CHECK(refusal(faulty, joined).empty() == (before == OperationCode::RELU));
  }
  for (const int64_t width : {3920, 4096}) {
    Net dense;
    dense.output(dense.fully_connected(dense.input({1, 1024}), width));
    quantised(dense);
    CHECK(refusal(faulty, dense).empty() == (width == 3920));
  }
}

TEST_CASE("fit_device: padding becomes a PAD where the device takes both") {
  const std::string no_explicit = R"("refuses": [{"operations": ["CONV_2D"], "paddings": ["EXPLICIT"]})";
  Net net;
  build(net, {8, 8, 3, 2});  // padding before only would be needed
  testing::Tensor argument({1, 3, 8, 8});
  argument.values = testing::random_values(net.random, argument.values.size());
  const auto before = testing::run(net.model, {argument});
  Model kept = net.model;
  fit_device(kept, with(no_explicit + R"(, {"operations": ["PAD"]}])"), 3);
  CHECK(codes(kept) == std::vector<OperationCode>{OperationCode::CONV_2D});
  kept = net.model;
  fit_device(kept, with(no_explicit + "]"), 1);
  CHECK(count(kept, OperationCode::PAD) == 0);
  fit_device(net.model, with(no_explicit + "]"), 3);
  CHECK(codes(net.model) == std::vector<OperationCode>{OperationCode::PAD, OperationCode::CONV_2D});
  CHECK(padding_style(net.model, net.model.operations[1]) == PaddingStyle::kValid);
  CHECK(testing::close(before[0], testing::run(net.model, {argument})[0]));
}

TEST_CASE("optimise: a PAD stays one where the device doesn't take what it would be folded into") {
  const DeviceProfile profile = with(R"("refuses": [{"operations": ["CONV_2D"], "paddings": ["EXPLICIT"]}])");
  const auto pads = [](const DeviceProfile* device) {
    Net net;
    net.output(net.conv(net.pad(net.input({1, 3, 8, 8}), {0, 0, 0, 0, 1, 0, 1, 0}), 4));
    OptimiseOptions options;
    options.device = device;
    optimise(net.model, options);
    return count(net.model, OperationCode::PAD);
  };
  CHECK(pads(nullptr) == 0);
  CHECK(pads(&profile) == 1);
}
