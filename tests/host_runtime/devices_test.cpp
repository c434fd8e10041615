// SPDX-License-Identifier: BSD-3-Clause
// Devices, what compilations say of them, and extensions.
#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

// Each is declared, and linked from the library.
const void* const kFunctions[] = {
#define NNAPI_HOST_FUNCTION(level, name) reinterpret_cast<const void*>(&name),
#include "lib/host_runtime/functions.inc"
#undef NNAPI_HOST_FUNCTION
};

}  // namespace

TEST_CASE("the library has all functions of its list", "[device]") {
  CHECK(std::count(std::begin(kFunctions), std::end(kFunctions), nullptr) == 0);
}

TEST_CASE("the host's device", "[device]") {
  uint32_t count = 0;
  REQUIRE(ANeuralNetworks_getDeviceCount(&count) == 0);
  CHECK(count == 1);
  const char *name = nullptr, *version = nullptr;
  int32_t type = 0;
  int64_t level = 0;
  bool extension = true;
  REQUIRE(ANeuralNetworksDevice_getName(device(), &name) == 0);
  REQUIRE(ANeuralNetworksDevice_getVersion(device(), &version) == 0);
  REQUIRE(ANeuralNetworksDevice_getType(device(), &type) == 0);
  REQUIRE(ANeuralNetworksDevice_getFeatureLevel(device(), &level) == 0);
  REQUIRE(ANeuralNetworksDevice_getExtensionSupport(device(), "com.example.extension", &extension) == 0);
  CHECK(std::string(name) == "nnapi-convert-host");
  CHECK(std::string(version) == "1");
  CHECK(type == 2);
  CHECK(level == ANeuralNetworks_getRuntimeFeatureLevel());
  CHECK_FALSE(extension);
  CHECK(ANeuralNetworksDevice_wait(device()) == 0);
  ANeuralNetworksDevice* none = nullptr;
  refuses(kBadData, "getDevice: index 1 found, below 1 needed", [&] { return ANeuralNetworks_getDevice(1, &none); });
}

TEST_CASE("devices of a compilation", "[device]") {
  const Model model = built(plus_one({2})), unfinished = new_model();
  ANeuralNetworksDevice* host = device();
  const ANeuralNetworksDevice *twice[] = {host, host}, *null[] = {nullptr};
  ANeuralNetworksCompilation* made = nullptr;
  refuses(kBadData, "devices: none found",
          [&] { return ANeuralNetworksCompilation_createForDevices(model.get(), &host, 0, &made); });
  refuses(kBadData, "devices: device 1 is listed twice",
          [&] { return ANeuralNetworksCompilation_createForDevices(model.get(), twice, 2, &made); });
  refuses(kNull, "devices: null found",
          [&] { return ANeuralNetworksCompilation_createForDevices(model.get(), null, 1, &made); });
  refuses(kBadState, "compilation: the model is not finished",
          [&] { return ANeuralNetworksCompilation_createForDevices(unfinished.get(), &host, 1, &made); });
  CHECK(made == nullptr);
}

TEST_CASE("operations that a device takes, in the order of addition", "[device]") {
  ModelSpec spec = plus_one({2}, 2);
  std::swap(spec.operations[0], spec.operations[1]);
  const Model model = built(spec), unfinished = new_model();
  const ANeuralNetworksDevice* host = device();
  bool supported[2] = {};
  REQUIRE(ANeuralNetworksModel_getSupportedOperationsForDevices(model.get(), &host, 1, supported) == 0);
  CHECK((supported[0] && supported[1]));
  refuses(kBadState, "getSupportedOperationsForDevices: the model is not finished",
          [&] { return ANeuralNetworksModel_getSupportedOperationsForDevices(unfinished.get(), &host, 1, supported); });
}

TEST_CASE("how a compilation shall run", "[device]") {
  const Model model = built(plus_one({2}));
  const Compilation compilation = compilation_for(model, device());
  for (const int32_t preference : {0, 1, 2}) {
    CHECK(ANeuralNetworksCompilation_setPreference(compilation.get(), preference) == 0);
  }
  for (const int priority : {90, 100, 110}) {
    CHECK(ANeuralNetworksCompilation_setPriority(compilation.get(), priority) == 0);
  }
  refuses(kBadData, "setPreference: 3 found, 0 to 2 needed",
          [&] { return ANeuralNetworksCompilation_setPreference(compilation.get(), 3); });
  refuses(kBadData, "setPriority: 95 found, 90 or 100 or 110 needed",
          [&] { return ANeuralNetworksCompilation_setPriority(compilation.get(), 95); });
  uint32_t bytes = 0;
  refuses(kBadState, "preferred memory alignment: the compilation is not finished",
          [&] { return ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(compilation.get(), 0, &bytes); });
  ANeuralNetworksExecution* execution = nullptr;
  refuses(kBadState, "execution: the compilation is not finished",
          [&] { return ANeuralNetworksExecution_create(compilation.get(), &execution); });
  REQUIRE(ANeuralNetworksCompilation_finish(compilation.get()) == 0);
  refuses(kBadState, "setPriority: the compilation is finished already",
          [&] { return ANeuralNetworksCompilation_setPriority(compilation.get(), 100); });
  refuses(kBadState, "finish: the compilation is finished already",
          [&] { return ANeuralNetworksCompilation_finish(compilation.get()); });
}

TEST_CASE("what memory suits a compilation", "[device]") {
  const Compiled compiled(plus_one({2}));
  const ANeuralNetworksCompilation* compilation = compiled.compilation.get();
  uint32_t bytes = 0;
  CHECK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(compilation, 0, &bytes) == 0);
  CHECK(bytes == 64);
  CHECK(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(compilation, 0, &bytes) == 0);
  CHECK(bytes == 64);
  CHECK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(compilation, 0, &bytes) == 0);
  CHECK(bytes == 1);
  CHECK(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(compilation, 0, &bytes) == 0);
  CHECK(bytes == 1);
  refuses(kBadData, "preferred memory padding: output 1 found, below 1 needed",
          [&] { return ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(compilation, 1, &bytes); });
}

TEST_CASE("extensions", "[device]") {
  const Model model = new_model();
  const OperandSpec operand = tensor(OperandCode::TENSOR_FLOAT32, {2});
  const ANeuralNetworksOperandType type = type_of(operand);
  REQUIRE(ANeuralNetworksModel_addOperand(model.get(), &type) == 0);
  int32_t code = 0;
  refuses(kBadData, "extension com.example: no device has it",
          [&] { return ANeuralNetworksModel_getExtensionOperandType(model.get(), "com.example", 0, &code); });
  refuses(kBadData, "extension com.example: no device has it",
          [&] { return ANeuralNetworksModel_getExtensionOperationType(model.get(), "com.example", 0, &code); });
  refuses(kBadData, "operand 0: TENSOR_FLOAT32 found, a type of an extension needed",
          [&] { return ANeuralNetworksModel_setOperandExtensionData(model.get(), 0, &code, 4); });
}
