// SPDX-License-Identifier: BSD-3-Clause
// Constants, inputs and outputs in shared memory.
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/host_runtime/model_spec.h"
#include "tests/host_runtime/stderr_capture.h"

using namespace model_spec;

namespace {

constexpr int kBadData = static_cast<int>(nnapi_convert::ResultCode::BAD_DATA);

// A file of eight floats, 1 to 8.
struct FloatFile {
  FloatFile() : file(std::tmpfile()) {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    std::fwrite(values.data(), 4, values.size(), file);
    std::fflush(file);
  }
  ~FloatFile() { std::fclose(file); }
  FloatFile(const FloatFile&) = delete;
  FloatFile& operator=(const FloatFile&) = delete;
  int descriptor() const { return fileno(file); }
  float at(long index) const {
    float value = 0;
    std::fseek(file, index * 4, SEEK_SET);
    return std::fread(&value, 4, 1, file) == 1 ? value : -1;
  }
  std::FILE* file;
};

// An execution of a finished model.
struct Started {
  explicit Started(ANeuralNetworksModel* model) {
    REQUIRE(ANeuralNetworksCompilation_create(model, &compilation) == 0);
    REQUIRE(ANeuralNetworksCompilation_finish(compilation) == 0);
    REQUIRE(ANeuralNetworksExecution_create(compilation, &execution) == 0);
  }
  ~Started() {
    ANeuralNetworksExecution_free(execution);
    ANeuralNetworksCompilation_free(compilation);
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ANeuralNetworksCompilation* compilation = nullptr;
  ANeuralNetworksExecution* execution = nullptr;
};

}  // namespace

TEST_CASE("values in shared memory", "[memory]") {
  const FloatFile file;
  ANeuralNetworksMemory* memory = nullptr;
  REQUIRE(ANeuralNetworksMemory_createFromFd(28, PROT_READ | PROT_WRITE, file.descriptor(), 4, &memory) == 0);
  const Model model = new_model();
  const OperandSpec pair = tensor(OperandCode::TENSOR_FLOAT32, {2}), scalar = int32(0);
  const ANeuralNetworksOperandType pair_type = type_of(pair), scalar_type = type_of(scalar);
  for (int i = 0; i < 3; ++i) REQUIRE(ANeuralNetworksModel_addOperand(model.get(), &pair_type) == 0);
  REQUIRE(ANeuralNetworksModel_addOperand(model.get(), &scalar_type) == 0);
  REQUIRE(ANeuralNetworksModel_setOperandValue(model.get(), 3, scalar.bytes.data(), 4) == 0);
  {
    StderrCapture capture;
    CHECK(ANeuralNetworksModel_setOperandValueFromMemory(model.get(), 1, memory, 24, 8) == kBadData);
    CHECK(capture.text().find("offset 24 and length 8 found in 28 bytes") != std::string::npos);
  }
  REQUIRE(ANeuralNetworksModel_setOperandValueFromMemory(model.get(), 1, memory, 4, 8) == 0);  // 3, 4
  const uint32_t inputs[] = {0, 1, 3}, input = 0, output = 2;
  REQUIRE(ANeuralNetworksModel_addOperation(model.get(), 18, 3, inputs, 1, &output) == 0);  // MUL
  REQUIRE(ANeuralNetworksModel_identifyInputsAndOutputs(model.get(), 1, &input, 1, &output) == 0);
  REQUIRE(ANeuralNetworksModel_finish(model.get()) == 0);
  const Started started(model.get());
  ANeuralNetworksExecution* const execution = started.execution;
  REQUIRE(ANeuralNetworksExecution_setInputFromMemory(execution, 0, nullptr, memory, 12, 8) == 0);   // 5, 6
  REQUIRE(ANeuralNetworksExecution_setOutputFromMemory(execution, 0, nullptr, memory, 20, 8) == 0);  // was 7, 8
  CHECK(ANeuralNetworksExecution_compute(execution) == 0);
  CHECK(file.at(6) == 15);
  CHECK(file.at(7) == 24);
  ANeuralNetworksMemory_free(memory);
}

// Sanitizers notice numbers that are read at an address which isn't aligned for them.
TEST_CASE("values at odd addresses of shared memory", "[memory]") {
  const std::vector<int32_t> bias = {11, 21};
  std::FILE* file = std::tmpfile();
  std::fputc(0, file);
  std::fwrite(bias.data(), 4, bias.size(), file);
  std::fflush(file);
  ANeuralNetworksMemory* memory = nullptr;
  REQUIRE(ANeuralNetworksMemory_createFromFd(9, PROT_READ, fileno(file), 0, &memory) == 0);
  const Model model = new_model();
  const auto codes = [](std::vector<uint32_t> dims, float scale) {
    return tensor(OperandCode::TENSOR_QUANT8_ASYMM, std::move(dims), scale);
  };
  const std::vector<OperandSpec> operands = {codes({1, 2}, 1), codes({2, 2}, 1),
                                             tensor(OperandCode::TENSOR_INT32, {2}, 1), int32(0), codes({1, 2}, 2)};
  for (const OperandSpec& operand : operands) {
    const ANeuralNetworksOperandType type = type_of(operand);
    REQUIRE(ANeuralNetworksModel_addOperand(model.get(), &type) == 0);
  }
  const uint8_t weights[] = {1, 2, 3, 4};
  REQUIRE(ANeuralNetworksModel_setOperandValue(model.get(), 1, weights, 4) == 0);
  REQUIRE(ANeuralNetworksModel_setOperandValueFromMemory(model.get(), 2, memory, 1, 8) == 0);
  REQUIRE(ANeuralNetworksModel_setOperandValue(model.get(), 3, operands[3].bytes.data(), 4) == 0);
  const uint32_t inputs[] = {0, 1, 2, 3}, input = 0, output = 4;
  REQUIRE(ANeuralNetworksModel_addOperation(model.get(), 9, 4, inputs, 1, &output) == 0);  // FULLY_CONNECTED
  REQUIRE(ANeuralNetworksModel_identifyInputsAndOutputs(model.get(), 1, &input, 1, &output) == 0);
  REQUIRE(ANeuralNetworksModel_finish(model.get()) == 0);
  const Started started(model.get());
  ANeuralNetworksExecution* const execution = started.execution;
  const uint8_t given[] = {3, 4};
  uint8_t found[] = {0, 0};
  REQUIRE(ANeuralNetworksExecution_setInput(execution, 0, nullptr, given, 2) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution, 0, nullptr, found, 2) == 0);
  CHECK(ANeuralNetworksExecution_compute(execution) == 0);
  CHECK(found[0] == 11);  // (3 + 8 + 11) / 2
  CHECK(found[1] == 23);  // (9 + 16 + 21) / 2
  ANeuralNetworksMemory_free(memory);
  std::fclose(file);
}

TEST_CASE("memory that is not there", "[memory]") {
  const FloatFile file;
  ANeuralNetworksMemory* memory = nullptr;
  StderrCapture capture;
  CHECK(ANeuralNetworksMemory_createFromFd(0, PROT_READ, file.descriptor(), 0, &memory) == kBadData);
  CHECK(ANeuralNetworksMemory_createFromFd(33, PROT_READ, file.descriptor(), 0, &memory) == kBadData);
  CHECK(ANeuralNetworksMemory_createFromFd(8, PROT_READ, file.descriptor(), SIZE_MAX - 3, &memory) == kBadData);
  CHECK(ANeuralNetworksMemory_createFromFd(8, PROT_READ, -1, 0, &memory) ==
        static_cast<int>(nnapi_convert::ResultCode::UNMAPPABLE));
  CHECK(memory == nullptr);
}
