// SPDX-License-Identifier: BSD-3-Clause
// A second device, as a profile describes it.
#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

const std::string kPicky = std::string(NNAPI_HOST_TESTDATA) + "/profiles/picky.json";
const OperandCode kFloat = OperandCode::TENSOR_FLOAT32;

struct ConvSpec {
  std::vector<int32_t> padding;  // four, or a scheme
  bool constant_filter = true;
  bool nchw = false;
  int32_t stride = 2;
};

// On 5x5 with a 3x3 filter.
ModelSpec conv(const ConvSpec& how) {
  ModelSpec spec;
  std::vector<uint32_t> inputs;
  const auto add = [&](const OperandSpec& operand) { inputs.push_back(spec.add(operand)); };
  add(tensor(kFloat, {1, how.nchw ? 1u : 5u, 5, how.nchw ? 5u : 1u}));
  add(how.constant_filter ? constant(kFloat, {1, 3, 3, 1}, std::vector<float>(9, 1)) : tensor(kFloat, {1, 3, 3, 1}));
  add(constant(kFloat, {1}, std::vector<float>{0}));
  for (const int32_t value : how.padding) add(int32(value));
  for (const int32_t value : {how.stride, how.stride, 0}) add(int32(value));
  if (how.nchw) add(boolean(true));
  const uint32_t output = spec.add(tensor(kFloat, {0, 0, 0, 0}));
  spec.operations = {{OperationCode::CONV_2D, inputs, {output}}};
  spec.inputs = {0};
  if (!how.constant_filter) spec.inputs.push_back(1);
  spec.outputs = {output};
  return spec;
}

bool takes(const ModelSpec& spec) {
  const Model model = built(spec);
  const ANeuralNetworksDevice* picky = device(1);
  bool supported[8] = {};
  REQUIRE(ANeuralNetworksModel_getSupportedOperationsForDevices(model.get(), &picky, 1, supported) == 0);
  const ANeuralNetworksDevice* both[] = {device(0), picky};
  bool all[8] = {};
  REQUIRE(ANeuralNetworksModel_getSupportedOperationsForDevices(model.get(), both, 2, all) == 0);
  CHECK(all[0]);
  return supported[0];
}

void refuses_to_compile(const ModelSpec& spec, const std::string& part) {
  const Model model = built(spec);
  const Compilation compilation = compilation_for(model, device(1));
  refuses(kBadData, part, [&] { return ANeuralNetworksCompilation_finish(compilation.get()); });
}

ModelSpec unary(OperationCode code, OperandCode type) {
  ModelSpec spec;
  const float scale = type == kFloat ? 0.0f : 1.0f;
  spec.add(tensor(type, {2}, scale));
  spec.add(tensor(type, {2}, scale));
  spec.operations = {{code, {0}, {1}}};
  spec.inputs = {0};
  spec.outputs = {1};
  return spec;
}

}  // namespace

TEST_CASE("a device that a profile describes", "[profile]") {
  const Variable profile("NNAPI_HOST_PROFILE", kPicky);
  uint32_t count = 0;
  REQUIRE(ANeuralNetworks_getDeviceCount(&count) == 0);
  REQUIRE(count == 2);
  CHECK(device(1) == device(1));
  const char *name = nullptr, *version = nullptr;
  int32_t type = 0;
  int64_t level = 0;
  CHECK(ANeuralNetworksDevice_getName(device(1), &name) == 0);
  CHECK(ANeuralNetworksDevice_getVersion(device(1), &version) == 0);
  CHECK(ANeuralNetworksDevice_getType(device(1), &type) == 0);
  CHECK(ANeuralNetworksDevice_getFeatureLevel(device(1), &level) == 0);
  CHECK(std::string(name) == "picky");
  CHECK(std::string(version) == "2.1");
  CHECK(type == 4);
  CHECK(level == 29);
}

TEST_CASE("conditions of a profile", "[profile]") {
  const Variable profile("NNAPI_HOST_PROFILE", kPicky);
  CHECK(takes(plus_one({2, 3})));
  CHECK_FALSE(takes(plus_one({2, 3, 4})));
  CHECK(takes(unary(OperationCode::RELU, kFloat)));
  CHECK_FALSE(takes(unary(OperationCode::RELU, OperandCode::TENSOR_QUANT8_ASYMM)));
  CHECK_FALSE(takes(unary(OperationCode::ABS, kFloat)));
  CHECK(takes(conv({{1}})));           // SAME
  CHECK(takes(conv({{2}})));           // VALID
  CHECK(takes(conv({{0, 0, 0, 0}})));  // as VALID
  CHECK(takes(conv({{1, 1, 1, 1}})));  // as SAME
  CHECK_FALSE(takes(conv({{2, 0, 1, 1}})));
  CHECK_FALSE(takes(conv({{1, 1, 0, 0}})));
  CHECK_FALSE(takes(conv({{1}, false})));
  CHECK_FALSE(takes(conv({{1, 1, 1, 1}, true, true})));
}

TEST_CASE("a compilation for a device that refuses an operation", "[profile]") {
  const Variable profile("NNAPI_HOST_PROFILE", kPicky);
  refuses_to_compile(plus_one({1, 2, 3}),
                     "operation 0 (ADD): no chosen device takes it; picky: it adds vectors and matrices only");
  refuses_to_compile(conv({{1}, false}), "picky: filters have to be constant");
  refuses_to_compile(conv({{1, 1, 1, 1}, true, true}), "picky: a rule of the profile refuses it");
  refuses_to_compile(unary(OperationCode::ABS, kFloat), "picky: no rule of the profile accepts it");
  ModelSpec elu = unary(OperationCode::ELU, kFloat);
  elu.operations[0].inputs.push_back(elu.add(float32(1)));
  refuses_to_compile(elu, "needs feature level 4, 3 is offered");
  const Model model = built(plus_one({2}));
  const Compilation good = compilation_for(model, device(1));
  CHECK(ANeuralNetworksCompilation_finish(good.get()) == 0);
  const Model refused = built(plus_one({1, 2, 3}));
  const ANeuralNetworksDevice* both[] = {device(1), device(0)};
  ANeuralNetworksCompilation* made = nullptr;
  REQUIRE(ANeuralNetworksCompilation_createForDevices(refused.get(), both, 2, &made) == 0);
  CHECK(ANeuralNetworksCompilation_finish(made) == 0);
  ANeuralNetworksCompilation_free(made);
}

TEST_CASE("a profile sees into referenced models", "[profile]") {
  const TemporaryFolder folder;
  const std::string file = folder.file("profile.json");
  write_file(file, R"({"version": 1, "device": {"name": "d", "version": "1", "type": "gpu", "feature_level": 8},
          "refuses": [{"operations": ["ADD"], "reason": "no sums"}]})");
  const Variable profile("NNAPI_HOST_PROFILE", file);
  const Model branch = built(plus_one({2}));
  ModelSpec spec;
  spec.add(tensor(OperandCode::TENSOR_BOOL8, {1}));
  spec.add(reference(branch.get()));
  spec.add(tensor(kFloat, {2}));
  spec.add(tensor(kFloat, {2}));
  spec.operations = {{OperationCode::IF, {0, 1, 1, 2}, {3}}};
  spec.inputs = {0, 2};
  spec.outputs = {3};
  refuses_to_compile(spec, "d: in a model that it refers to, operation 0 (ADD): no sums");
}

TEST_CASE("a profile that refuses strides", "[profile]") {
  const TemporaryFolder folder;
  const std::string file = folder.file("profile.json");
  write_file(file, R"({"version": 1, "device": {"name": "d", "version": "1", "type": "gpu", "feature_level": 8},
          "refuses": [{"strides": [2, 3], "paddings": ["SAME"], "reason": "it does not stride"}]})");
  const Variable profile("NNAPI_HOST_PROFILE", file);
  CHECK(takes(conv({{1}, true, false, 1})));
  CHECK_FALSE(takes(conv({{1}, true, false, 2})));
  CHECK_FALSE(takes(conv({{1}, true, false, 3})));
  CHECK(takes(conv({{1}, true, false, 4})));
  CHECK(takes(conv({{2}, true, false, 2})));
  CHECK(takes(plus_one({2})));
  refuses_to_compile(conv({{1}}), "d: it does not stride");
}

TEST_CASE("files that are no profiles", "[profile]") {
  const std::string device_part = R"("device": {"name": "d", "version": "1", "type": "gpu", "feature_level": 8})";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "not JSON"},
      {"[]", "an object needed"},
      {"{}", "key \"version\" needed"},
      {R"({"version": 2})", "version 1 needed"},
      {R"({"version": 1})", "key \"device\" needed"},
      {R"({"version": 1, "extra": 1})", "extra: 1 found, another key needed"},
      {R"({"version": 1, "device": {"name": 3}})", "device.name: 3 found, a text needed"},
      {R"({"version": 1, "device": {"name": "d", "version": "1", "type": "dsp", "feature_level": 8}})",
       "device.type: \"dsp\" found, other, cpu, gpu or accelerator needed"},
      {R"({"version": 1, "device": {"name": "d", "version": "1", "type": "gpu", "feature_level": 9}})",
       "device.feature_level: 9 found, 1 to 8 needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": {}})", "refuses: {} found, a list needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": [{"operation": "ADD"}]})",
       "refuses[0].operation: \"ADD\" found, another key needed"},
      {R"({"version": 1, )" + device_part + R"(, "accepts": [{}, {"operations": ["ADDD"]}]})",
       "accepts[1].operations[0]: \"ADDD\" found, the name of an NNAPI operation needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": [{"types": {"input": ["FLOAT"]}}]})",
       "refuses[0].types.input[0]: \"FLOAT\" found, the name of an NNAPI operand type needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": [{"types": {"input": []}}]})",
       "refuses[0].types.input: [] found, a list needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": [{"ranks": {"input": [4, 1]}}]})",
       "refuses[0].ranks.input: [4,1] found, [least, greatest] needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": [{"constants": {"input": 1}}]})",
       "refuses[0].constants.input: 1 found, true or false needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": [{"paddings": ["same"]}]})",
       "refuses[0].paddings[0]: \"same\" found, SAME, VALID or EXPLICIT needed"},
      {R"({"version": 1, )" + device_part + R"(, "refuses": [{"strides": [2]}]})",
       "refuses[0].strides: [2] found, [least, greatest] needed"},
  };
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string file = folder.file(std::to_string(i));
    write_file(file, cases[i].first);
    const Variable profile("NNAPI_HOST_PROFILE", file);
    StderrCapture capture;
    uint32_t count = 0;
    CHECK(ANeuralNetworks_getDeviceCount(&count) == 0);
    CHECK(count == 1);
    const std::string sentence = capture.text();
    INFO(sentence);
    CHECK(sentence.rfind("neuralnetworks: device profile " + file, 0) == 0);
    CHECK(sentence.find(cases[i].second) != std::string::npos);
    CHECK(std::count(sentence.begin(), sentence.end(), '\n') == 1);
  }
  const Variable profile("NNAPI_HOST_PROFILE", "/nonexistent/profile.json");
  uint32_t count = 0;
  refuses(0, "device profile /nonexistent/profile.json: No such file or directory",
          [&] { return ANeuralNetworks_getDeviceCount(&count); });
  CHECK(count == 1);
}
