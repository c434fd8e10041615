// SPDX-License-Identifier: BSD-3-Clause
// The trace, rounding to half precision, and the log.
#include <nlohmann/json.hpp>

#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

using Json = nlohmann::json;

struct TraceFile {
  std::vector<Json> lines() const {
    std::ifstream stream(path);
    std::vector<Json> result;
    for (std::string line; std::getline(stream, line);) result.push_back(Json::parse(line));
    return result;
  }
  TemporaryFolder folder;
  std::string path = folder.file("trace");
};

// output = (input * input) + 1
ModelSpec square_plus_one(uint32_t extent) {
  ModelSpec spec;
  const OperandSpec floats = tensor(OperandCode::TENSOR_FLOAT32, {extent});
  spec.add(floats);
  spec.add(constant(OperandCode::TENSOR_FLOAT32, {1}, std::vector<float>{1}));
  spec.add(int32(0));
  spec.add(floats);
  spec.add(floats);
  spec.operations = {{OperationCode::MUL, {0, 0, 2}, {3}}, {OperationCode::ADD, {3, 1, 2}, {4}}};
  spec.inputs = {0};
  spec.outputs = {4};
  return spec;
}

Model relaxed(const ModelSpec& spec) {
  Model model = new_model();
  REQUIRE(ANeuralNetworksModel_relaxComputationFloat32toFloat16(model.get(), true) == 0);
  REQUIRE(build(spec, model.get()) == 0);
  return model;
}

std::vector<float> compute_floats(const Model& model, const std::vector<float>& input) {
  const Compilation compilation = compilation_for(model, device());
  REQUIRE(ANeuralNetworksCompilation_finish(compilation.get()) == 0);
  const Execution execution = execution_of(compilation);
  std::vector<float> output(input.size());
  set_floats(execution, input, output);
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  return output;
}

}  // namespace

TEST_CASE("a trace has a line for each operation", "[trace]") {
  const TraceFile trace;
  const Variable variable("NNAPI_HOST_TRACE", trace.path);
  const Model model = built(square_plus_one(4));
  compute_floats(model, {1, 2, -3, NAN});
  compute_floats(model, {0, 0, 0, 0});
  const std::vector<Json> lines = trace.lines();
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["execution"] == 1);
  CHECK(lines[0]["operation"] == 0);
  CHECK(lines[0]["name"] == "MUL");
  CHECK(lines[0]["microseconds"] > 0.0);
  CHECK_FALSE(lines[0].contains("inside"));
  const Json& output = lines[1]["outputs"][0];
  CHECK(lines[1]["name"] == "ADD");
  CHECK(output["type"] == "TENSOR_FLOAT32");
  CHECK(output["shape"] == Json({4}));
  CHECK(output["min"] == 2.0);
  CHECK(output["max"] == 10.0);
  CHECK(output["mean"].get<double>() == Approx(17.0 / 3));
  CHECK(output["non_finite"] == 1);
  CHECK(lines[2]["execution"] == 2);
  CHECK(lines[3]["outputs"][0]["mean"] == 1.0);
}

TEST_CASE("a trace of codes and scalars", "[trace]") {
  const TraceFile trace;
  const Variable variable("NNAPI_HOST_TRACE", trace.path);
  ModelSpec spec;
  spec.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {2, 2}, 0.5f, 10));
  spec.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {2, 2}, 0.5f, 10));
  spec.add(tensor(OperandCode::INT32, {}));
  spec.operations = {{OperationCode::RELU, {0}, {1}}, {OperationCode::RANK, {1}, {2}}};
  spec.inputs = {0};
  spec.outputs = {2};
  CHECK(compute(Compiled(spec), {{0, 10, 12, 20}}, 4) == bytes_of(std::vector<int32_t>{2}));
  const std::vector<Json> lines = trace.lines();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["outputs"][0]["min"] == 0.0);
  CHECK(lines[0]["outputs"][0]["max"] == 5.0);
  CHECK(lines[0]["outputs"][0]["mean"] == 1.5);
  CHECK(lines[1]["outputs"][0]["type"] == "INT32");
  CHECK(lines[1]["outputs"][0]["shape"] == Json::array());
  CHECK(lines[1]["outputs"][0]["max"] == 2.0);
}

TEST_CASE("a trace sees into referenced models", "[trace]") {
  const TraceFile trace;
  const Variable variable("NNAPI_HOST_TRACE", trace.path);
  const Model branch = built(plus_one({2}));
  ModelSpec spec;
  spec.add(constant(OperandCode::TENSOR_BOOL8, {1}, std::vector<uint8_t>{0}));
  spec.add(reference(branch.get()));
  spec.add(tensor(OperandCode::TENSOR_FLOAT32, {2}));
  spec.add(tensor(OperandCode::TENSOR_FLOAT32, {2}));
  spec.operations = {{OperationCode::IF, {0, 1, 1, 2}, {3}}};
  spec.inputs = {2};
  spec.outputs = {3};
  compute_floats(built(spec), {1, 2});
  const std::vector<Json> lines = trace.lines();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["name"] == "ADD");
  CHECK(lines[0]["inside"] ==
        Json::parse(R"([{"operation": 0, "name": "IF", "argument": "else_model", "iteration": 0}])"));
  CHECK(lines[1]["name"] == "IF");
}

TEST_CASE("a trace that can't be written", "[trace]") {
  const Variable variable("NNAPI_HOST_TRACE", "/nonexistent/trace");
  const Model model = built(plus_one({2}));
  refuses(0, "NNAPI_HOST_TRACE: '/nonexistent/trace' found, a file that can be written needed", [&] {
    CHECK(compute_floats(model, {1, 2}) == std::vector<float>{2, 3});
    return 0;
  });
}

TEST_CASE("results in half precision", "[trace]") {
  const TraceFile trace;
  const Variable file("NNAPI_HOST_TRACE", trace.path);
  const std::vector<float> input = {1.0f, 100.125f, 300.0f, 400.0f};
  const std::vector<float> exact = {2, 10026.015625f, 90001, 160001};
  const Model model = relaxed(square_plus_one(4));
  CHECK(compute_floats(model, input) == exact);
  const Variable relax("NNAPI_HOST_RELAX", "fp16");
  CHECK(compute_floats(model, input) == std::vector<float>{2, 10024, INFINITY, INFINITY});
  CHECK(compute_floats(built(square_plus_one(4)), input) == exact);
  const std::vector<Json> lines = trace.lines();
  REQUIRE(lines.size() == 7);
  CHECK(lines[2]["execution"] == 2);
  CHECK(lines[2]["operation"] == 0);
  CHECK(lines[2]["name"] == "MUL");
  CHECK(lines[2]["first_overflow"] == Json::parse(R"({"output": 0, "element": 2, "value": 90000.0})"));
  CHECK(lines[3]["outputs"][0]["non_finite"] == 2);
}

TEST_CASE("a wish for other precision", "[trace]") {
  const Variable relax("NNAPI_HOST_RELAX", "bf16");
  const Model model = relaxed(plus_one({2}));
  refuses(0, "NNAPI_HOST_RELAX: 'bf16' found, fp16 needed; nothing is rounded", [&] {
    CHECK(compute_floats(model, {1, 2}) == std::vector<float>{2, 3});
    return 0;
  });
}

TEST_CASE("how much the log says", "[trace]") {
  const auto said_at = [](const char* level) {
    const Variable variable("NNAPI_HOST_LOG", level);
    StderrCapture capture;
    const Model model = built(plus_one({2}));
    compute_floats(model, {1, 2});
    ANeuralNetworksModel_finish(model.get());
    return capture.text();
  };
  CHECK(said_at("off").empty());
  {
    const Variable relax("NNAPI_HOST_RELAX", "int4");
    CHECK(said_at("off").empty());
  }
  CHECK(said_at("error") == "neuralnetworks: finish: the model is finished already\n");
  const std::string info = said_at("info"), debug = said_at("debug");
  CHECK(info.find("model finished: 4 operands, 1 operations") != std::string::npos);
  CHECK(info.find("compilation finished: 1 operations") != std::string::npos);
  CHECK(info.find("operation 0 (ADD)") == std::string::npos);
  CHECK(debug.find("operation 0 (ADD): ") != std::string::npos);
  const std::string loud = said_at("loud");
  CHECK(loud.find("NNAPI_HOST_LOG: 'loud' found, off, error, info or debug needed; error is taken") !=
        std::string::npos);
}
