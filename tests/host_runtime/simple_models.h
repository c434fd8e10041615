// SPDX-License-Identifier: BSD-3-Clause
// Makes a model of one operation, compiled for a chosen device, and its executions, for tests of executions.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/host_runtime/model_spec.h"
#include "tests/host_runtime/stderr_capture.h"
#include "tests/temporary_folder.h"

namespace simple_models {

using namespace model_spec;
using nnapi_convert::ResultCode;
using nnapi_convert::test::TemporaryFolder;

constexpr int kNull = static_cast<int>(ResultCode::UNEXPECTED_NULL);
constexpr int kBadData = static_cast<int>(ResultCode::BAD_DATA);
constexpr int kBadState = static_cast<int>(ResultCode::BAD_STATE);
constexpr int kFailed = static_cast<int>(ResultCode::OP_FAILED);
constexpr int kTooSmall = static_cast<int>(ResultCode::OUTPUT_INSUFFICIENT_SIZE);
constexpr int kLate = static_cast<int>(ResultCode::MISSED_DEADLINE_TRANSIENT);

// Sets an environment variable until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// output = input + 1, repeated `times` over, on a tensor of the given extents.
inline ModelSpec plus_one(const std::vector<uint32_t>& dims, int times = 1) {
  ModelSpec spec;
  uint32_t last = spec.add(tensor(OperandCode::TENSOR_FLOAT32, dims));
  spec.inputs = {last};
  const uint32_t one = spec.add(constant(OperandCode::TENSOR_FLOAT32, {1}, std::vector<float>{1}));
  const uint32_t none = spec.add(int32(0));
  for (int i = 0; i < times; ++i) {
    const uint32_t next = spec.add(tensor(OperandCode::TENSOR_FLOAT32, dims));
    spec.operations.push_back({OperationCode::ADD, {last, one, none}, {next}});
    last = next;
  }
  spec.outputs = {last};
  return spec;
}

inline ANeuralNetworksDevice* device(uint32_t index = 0) {
  ANeuralNetworksDevice* result = nullptr;
  REQUIRE(ANeuralNetworks_getDevice(index, &result) == 0);
  return result;
}

// Returns a compilation that is not finished.
inline Compilation compilation_for(const Model& model, ANeuralNetworksDevice* chosen) {
  ANeuralNetworksCompilation* made = nullptr;
  REQUIRE(ANeuralNetworksCompilation_createForDevices(model.get(), &chosen, 1, &made) == 0);
  return Compilation(made, ANeuralNetworksCompilation_free);
}

inline Execution execution_of(const Compilation& compilation) {
  ANeuralNetworksExecution* made = nullptr;
  REQUIRE(ANeuralNetworksExecution_create(compilation.get(), &made) == 0);
  return Execution(made, ANeuralNetworksExecution_free);
}

// Compiled for the host's device, so that timing and timeouts are allowed.
struct OnDevice {
  explicit OnDevice(const ModelSpec& spec) : model(built(spec)), compilation(compilation_for(model, device())) {
    REQUIRE(ANeuralNetworksCompilation_finish(compilation.get()) == 0);
  }
  Model model;
  Compilation compilation;
};

// Sets input 0 and output 0.
inline void set_floats(const Execution& execution, const std::vector<float>& input, std::vector<float>& output) {
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 0, nullptr, input.data(), input.size() * 4) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), output.size() * 4) == 0);
}

// Requires that the library refuses the call with the code and with one sentence that contains the part.
template <typename Call>
void refuses(int code, const std::string& part, const Call& call) {
  StderrCapture capture;
  const int answer = call();
  const std::string sentence = capture.text();
  INFO(sentence);
  CHECK(answer == code);
  CHECK(sentence.rfind("neuralnetworks: ", 0) == 0);
  CHECK(sentence.find(part) != std::string::npos);
  CHECK(std::count(sentence.begin(), sentence.end(), '\n') == 1);
}

}  // namespace simple_models
