// SPDX-License-Identifier: BSD-3-Clause
// Finding NNAPI's functions: levels, what is missing, support libraries.
#include "lib/shim/nnapi_library.h"

#include <algorithm>
#include <cstring>

#include "tests/shim/session.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;

namespace {

#ifdef __ANDROID__
constexpr const char* kOtherLibrary = "libc.so";
#else
constexpr const char* kOtherLibrary = "libc.so.6";
#endif

const NnapiLibrary* load(const std::string& name) {
  const NnapiLibrary* library = nullptr;
  nnapi_shim_error error{};
  const int status = load_nnapi(fake_path(name).c_str(), name == "odd_support_library", &library, &error);
  INFO(error.message);
  CHECK(status == NNAPI_SHIM_OK);
  REQUIRE(library != nullptr);
  return library;
}

std::string refusal(const char* path, bool is_support_library) {
  const NnapiLibrary* library = nullptr;
  nnapi_shim_error error{};
  CHECK(load_nnapi(path, is_support_library, &library, &error) == NNAPI_SHIM_UNAVAILABLE);
  CHECK(library == nullptr);
  CHECK(error.status == NNAPI_SHIM_UNAVAILABLE);
  return error.message;
}

}  // namespace

TEST_CASE("levels from NNAPI's codes") {
  CHECK(level_from_code(26) == 0);
  CHECK(level_from_code(27) == 1);
  CHECK(level_from_code(28) == 2);
  CHECK(level_from_code(29) == 3);
  CHECK(level_from_code(30) == 4);
  CHECK(level_from_code(31) == 5);
  CHECK(level_from_code(34) == 5);
  CHECK(level_from_code(1000006) == 6);
  CHECK(level_from_code(1000008) == 8);
  CHECK(level_from_code(1000000) == 5);
  CHECK(level_from_code(-1) == 0);
}

TEST_CASE("the level of a library without getRuntimeFeatureLevel is that of its newest function") {
  CHECK(load("level1")->feature_level == 1);
  CHECK(load("level2")->feature_level == 2);
  CHECK(load("level3")->feature_level == 3);
  CHECK(load("level4")->feature_level == 4);
}

TEST_CASE("functions are found one by one") {
  const NnapiLibrary* first = load("level1");
  CHECK(first->ANeuralNetworksExecution_startCompute != nullptr);
  CHECK(first->ANeuralNetworksExecution_compute == nullptr);
  CHECK(first->ANeuralNetworksModel_relaxComputationFloat32toFloat16 == nullptr);
  const NnapiLibrary* third = load("level3");
  CHECK(third->ANeuralNetworksExecution_compute != nullptr);
  CHECK(third->ANeuralNetworksCompilation_setPriority == nullptr);
  CHECK(load("level3") == third);
}

TEST_CASE("libraries that are none") {
  CHECK(refusal("/nowhere/libneuralnetworks.so", false).find("no NNAPI library /nowhere/libneuralnetworks.so") !=
        std::string::npos);
  CHECK(refusal(kOtherLibrary, false).find(std::string(kOtherLibrary) + " lacks the function ANeuralNetworks") !=
        std::string::npos);
  CHECK(refusal(fake_path("without_finish").c_str(), false).find("lacks the function ANeuralNetworksModel_finish") !=
        std::string::npos);
  CHECK(refusal(fake_path("level5").c_str(), true).find("has no function ANeuralNetworks_getSLDriverImpl") !=
        std::string::npos);
}

TEST_CASE("support libraries") {
  fake_nnapi::Settings settings;
  // A library of its own, as what loads once stays as it is.
  const std::string path = fake_path("odd_support_library");
  settings.level_code = 0;
  fresh_fake("odd_support_library", settings);
  CHECK(refusal(path.c_str(), true).find("offers no drivers") != std::string::npos);
  settings.level_code = 30;
  fresh_fake("odd_support_library", settings);
  CHECK(refusal(path.c_str(), true).find("has a function table of level code 30; 31") != std::string::npos);
  settings.level_code = 1000007;
  fresh_fake("odd_support_library", settings);
  const NnapiLibrary* library = load("odd_support_library");
  CHECK(library->is_support_library);
  CHECK(library->feature_level == 7);
  CHECK(library->ANeuralNetworksCompilation_create == nullptr);
  CHECK(library->ANeuralNetworksExecution_startCompute == nullptr);
}
