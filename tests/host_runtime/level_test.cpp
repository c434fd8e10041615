// SPDX-License-Identifier: BSD-3-Clause
// The libraries of the feature levels, loaded as a client does that looks each function up.
#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "lib/host_runtime/neural_networks.h"
#include "tests/host_runtime/stderr_capture.h"

namespace {

struct Function {
  int level;
  const char* name;
};

const Function kFunctions[] = {
#define NNAPI_HOST_FUNCTION(level, name) {level, #name},
#include "lib/host_runtime/functions.inc"
#undef NNAPI_HOST_FUNCTION
};

class Library {
 public:
  explicit Library(const std::string& folder)
      : handle_(dlopen((NNAPI_HOST_LIBRARIES + folder + "/libneuralnetworks.so").c_str(), RTLD_NOW | RTLD_LOCAL)) {
    INFO(dlerror());
    REQUIRE(handle_ != nullptr);
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* find(const char* name) const { return dlsym(handle_, name); }
  template <typename T>
  T* get(const char* name) const {
    REQUIRE(find(name) != nullptr);
    return reinterpret_cast<T*>(find(name));
  }

 private:
  void* handle_;
};

// The code of an addition of an operand of the type.
int add_operand(const Library& library, int32_t type, std::string* sentences) {
  StderrCapture capture;
  ANeuralNetworksModel* model = nullptr;
  REQUIRE(library.get<decltype(ANeuralNetworksModel_create)>("ANeuralNetworksModel_create")(&model) == 0);
  const ANeuralNetworksOperandType operand = {type, 0, nullptr, 0, 0};
  const int code =
      library.get<decltype(ANeuralNetworksModel_addOperand)>("ANeuralNetworksModel_addOperand")(model, &operand);
  library.get<decltype(ANeuralNetworksModel_free)>("ANeuralNetworksModel_free")(model);
  *sentences = capture.text();
  return code;
}

}  // namespace

TEST_CASE("each library has its level's functions and no others", "[level]") {
  const int level = GENERATE(1, 2, 3, 4, 8);
  const Library library(level == 8 ? "" : "/level" + std::to_string(level));
  for (const Function& function : kFunctions) {
    INFO(function.name << " at level " << level);
    CHECK((library.find(function.name) != nullptr) == (function.level <= level));
  }
}

TEST_CASE("a library of a level has that level's rules", "[level]") {
  const Library library("/level2");
  std::string sentences;
  CHECK(add_operand(library, 3, &sentences) == 0);
  CHECK(sentences.empty());
  CHECK(add_operand(library, 8, &sentences) == 4);
  CHECK(sentences.find("type TENSOR_FLOAT16 needs feature level 3, 2 is offered") != std::string::npos);
}

TEST_CASE("the variable lowers a library's level and does not raise it", "[level]") {
  const Library library("/level4");
  std::string sentences;
  setenv("NNAPI_HOST_FEATURE_LEVEL", "2", 1);
  CHECK(add_operand(library, 8, &sentences) == 4);
  setenv("NNAPI_HOST_FEATURE_LEVEL", "6", 1);
  CHECK(add_operand(library, 14, &sentences) == 4);  // TENSOR_QUANT8_ASYMM_SIGNED without a scale
  CHECK(sentences.find("NNAPI_HOST_FEATURE_LEVEL: '6' found, 1 to 4 needed; 4 is taken") != std::string::npos);
  CHECK(sentences.find("needs feature level") == std::string::npos);
  unsetenv("NNAPI_HOST_FEATURE_LEVEL");
}

TEST_CASE("a function of a later level answers an error", "[level]") {
  const Library library("");
  setenv("NNAPI_HOST_FEATURE_LEVEL", "2", 1);
  StderrCapture capture;
  uint32_t count = 0;
  CHECK(library.get<decltype(ANeuralNetworks_getDeviceCount)>("ANeuralNetworks_getDeviceCount")(&count) == 6);
  CHECK(library.get<decltype(ANeuralNetworksExecution_setReusable)>("ANeuralNetworksExecution_setReusable")(nullptr,
                                                                                                            true) == 6);
  CHECK(library.get<decltype(ANeuralNetworks_getRuntimeFeatureLevel)>("ANeuralNetworks_getRuntimeFeatureLevel")() ==
        28);
  const std::string sentences = capture.text();
  CHECK(sentences ==
        "neuralnetworks: ANeuralNetworks_getDeviceCount: needs feature level 3, 2 is offered\n"
        "neuralnetworks: ANeuralNetworksExecution_setReusable: needs feature level 5, 2 is offered\n");
  unsetenv("NNAPI_HOST_FEATURE_LEVEL");
}
