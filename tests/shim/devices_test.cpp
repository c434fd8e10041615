// SPDX-License-Identifier: BSD-3-Clause
// Choosing devices, and what they take.
#include <algorithm>

#include "tests/shim/session.h"

using namespace nnapi_shim::testing;
using fake_nnapi::Settings;
using Names = std::vector<std::string>;

namespace {

constexpr int kMul = 18, kAdd = 0;

// An accelerator that takes no MUL, a GPU that takes all, and the reference CPU.
Settings phone() {
  Settings settings;
  settings.devices = {{"npu", 4, 30, {kMul}}, {"gpu", 3, 31, {}}, {"nnapi-reference", 2, 31, {}}};
  return settings;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Warms up, and returns what the model was compiled for.
Names compiled_for(const nnapi_shim_options& options, const std::string& library = "level5",
                   const Settings& settings = phone()) {
  fake_nnapi::Fake& nnapi = fresh_fake(library, settings);
  Session session(three_operations());
  REQUIRE(session.configure(library, options) == NNAPI_SHIM_OK);
  const int status = session.warm_up(rows(1));
  INFO(session.message());
  REQUIRE(status == NNAPI_SHIM_OK);
  REQUIRE(session.run(rows(1)) == NNAPI_SHIM_OK);
  const Names names = nnapi.record().compiled_for;
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  CHECK(session.profile().devices == joined);
  return names;
}

std::string refused(const nnapi_shim_options& options, int status, const std::string& library = "level5",
                    const Settings& settings = phone()) {
  fake_nnapi::Fake& nnapi = fresh_fake(library, settings);
  std::string message;
  {
    Session session(three_operations());
    REQUIRE(session.configure(library, options) == NNAPI_SHIM_OK);
    CHECK(session.warm_up(rows(1)) == status);
    CHECK(session.last_failure().status == status);
    message = session.message();
  }
  CHECK(nnapi.record().live == 0);
  CHECK(nnapi.record().violations.empty());
  CHECK(nnapi.record().calls["ANeuralNetworksCompilation_finish"] == 0);
  return message;
}

nnapi_shim_options of_kind(int32_t kind) {
  nnapi_shim_options options{};
  options.device_kind = kind;
  return options;
}

nnapi_shim_options named(const char* name) {
  nnapi_shim_options options{};
  options.device = name;
  return options;
}

}  // namespace

TEST_CASE("devices: NNAPI chooses unless told otherwise") {
  CHECK(compiled_for({}).empty());
}

TEST_CASE("devices: by name and kind") {
  CHECK(compiled_for(named("gpu")) == Names{"gpu"});
  CHECK(compiled_for(of_kind(NNAPI_SHIM_GPU)) == Names{"gpu"});
  CHECK(compiled_for(of_kind(NNAPI_SHIM_CPU)) == Names{"nnapi-reference"});
  CHECK(compiled_for(of_kind(NNAPI_SHIM_NOT_REFERENCE_CPU)) == Names{"npu", "gpu"});
}

TEST_CASE("devices: the reference CPU joins a kind that leaves operations over") {
  CHECK(compiled_for(of_kind(NNAPI_SHIM_ACCELERATOR)) == Names{"npu", "nnapi-reference"});
}

TEST_CASE("devices: what does not exist") {
  const std::string by_name = refused(named("tpu"), NNAPI_SHIM_NO_DEVICE);
  CHECK(contains(by_name, "no NNAPI device named tpu"));
  CHECK(contains(by_name, "npu, gpu, nnapi-reference"));
  Settings only_cpu;
  CHECK(contains(refused(of_kind(NNAPI_SHIM_GPU), NNAPI_SHIM_NO_DEVICE, "level5", only_cpu), "of the kind GPU"));
  CHECK(contains(refused(of_kind(NNAPI_SHIM_NOT_REFERENCE_CPU), NNAPI_SHIM_NO_DEVICE, "level5", only_cpu),
                 "but the reference CPU"));
}

TEST_CASE("devices: operations that the chosen ones do not take are named") {
  const std::string message = refused(named("npu"), NNAPI_SHIM_REFUSED);
  CHECK(contains(message, "npu can't run 1 of the model's 3 operations: operation 1 MUL (second, net.py:4)"));
  // The options need one device: none may join.
  nnapi_shim_options timed = of_kind(NNAPI_SHIM_ACCELERATOR);
  timed.measure_timing = 1;
  CHECK(contains(refused(timed, NNAPI_SHIM_REFUSED), "npu can't run 1 of"));
  Settings weak = phone();
  weak.devices[1].refuses = {kMul};
  CHECK(contains(refused(of_kind(NNAPI_SHIM_NOT_REFERENCE_CPU), NNAPI_SHIM_REFUSED, "level5", weak),
                 "npu, gpu can't run 1 of"));
  // Nothing would be left for the accelerator.
  weak.devices[0].refuses = {kMul, kAdd};
  CHECK(contains(refused(of_kind(NNAPI_SHIM_ACCELERATOR), NNAPI_SHIM_REFUSED, "level5", weak), "npu can't run 3 of"));
}

TEST_CASE("devices: timeouts and timing need exactly one") {
  nnapi_shim_options options{};
  options.execute_timeout_ns = 5;
  CHECK(contains(refused(options, NNAPI_SHIM_BAD_ARGUMENT),
                 "timeouts and timing need exactly one device, found: that NNAPI chooses"));
  options = of_kind(NNAPI_SHIM_NOT_REFERENCE_CPU);
  options.compile_timeout_ns = 5;
  CHECK(contains(refused(options, NNAPI_SHIM_BAD_ARGUMENT), "found: npu, gpu; name one"));
  options = of_kind(NNAPI_SHIM_GPU);
  options.measure_timing = 1;
  CHECK(compiled_for(options) == Names{"gpu"});
}

TEST_CASE("devices: below feature level 3 there is no choice") {
  CHECK(compiled_for({}, "level1").empty());
  CHECK(contains(refused(named("gpu"), NNAPI_SHIM_TOO_OLD, "level2"),
                 "below feature level 3 (Android 10), found level 2"));
}

TEST_CASE("devices: of a support library all, unless told otherwise") {
  Settings settings = phone();
  CHECK(compiled_for({}, "support_library", settings) == Names{"npu", "gpu", "nnapi-reference"});
  CHECK(compiled_for(named("gpu"), "support_library", settings) == Names{"gpu"});
}

TEST_CASE("devices: visiting") {
  fresh_fake("level5", phone());
  nnapi_shim_options options{};
  options.struct_bytes = sizeof(options);
  const std::string path = fake_path("level5");
  options.library = path.c_str();
  std::vector<std::string> seen;
  const auto visit = [](void* user, const char* name, const char* version, int32_t type, int64_t level) {
    static_cast<std::vector<std::string>*>(user)->push_back(std::string(name) + " " + version + " " +
                                                            std::to_string(type) + " " + std::to_string(level));
  };
  nnapi_shim_error error;
  REQUIRE(nnapi_shim_visit_devices(&options, visit, &seen, &error) == NNAPI_SHIM_OK);
  CHECK(seen == Names{"npu fake 1 4 30", "gpu fake 1 3 31", "nnapi-reference fake 1 2 31"});
  const std::string old = fake_path("level2");
  options.library = old.c_str();
  CHECK(nnapi_shim_visit_devices(&options, visit, &seen, &error) == NNAPI_SHIM_TOO_OLD);
  CHECK(nnapi_shim_visit_devices(&options, nullptr, nullptr, &error) == NNAPI_SHIM_BAD_ARGUMENT);
}

TEST_CASE("devices: visiting operations") {
  const auto visit = [](void* user, uint32_t number, int32_t code, const char* name, const char* source,
                        int32_t is_supported) {
    static_cast<std::vector<std::string>*>(user)->push_back(std::to_string(number) + " " + std::to_string(code) + " " +
                                                            name + " " + source + " " + std::to_string(is_supported));
  };
  const int64_t sizes[2] = {1, 64};
  const nnapi_shim_shape shape = {2, sizes};
  fake_nnapi::Fake& nnapi = fresh_fake("level5", phone());
  nnapi_shim_error error;
  {
    Session session(three_operations());
    REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
    Names seen;
    REQUIRE(nnapi_shim_visit_operations(session.model(), &shape, 1, "npu", visit, &seen, &error) == NNAPI_SHIM_OK);
    CHECK(seen == Names{"0 0 first net.py:3 1", "1 18 second net.py:4 0", "2 0 third net.py:5 1"});
    seen.clear();
    REQUIRE(nnapi_shim_visit_operations(session.model(), &shape, 1, nullptr, visit, &seen, &error) == NNAPI_SHIM_OK);
    CHECK(seen[1] == "1 18 second net.py:4 1");
    CHECK(nnapi_shim_visit_operations(session.model(), &shape, 1, "tpu", visit, &seen, &error) == NNAPI_SHIM_NO_DEVICE);
  }
  CHECK(nnapi.record().live == 0);
  fresh_fake("level1");
  Session old(three_operations());
  REQUIRE(old.configure("level1") == NNAPI_SHIM_OK);
  Names seen;
  REQUIRE(nnapi_shim_visit_operations(old.model(), &shape, 1, nullptr, visit, &seen, &error) == NNAPI_SHIM_OK);
  CHECK(seen[0] == "0 0 first net.py:3 -1");
}
