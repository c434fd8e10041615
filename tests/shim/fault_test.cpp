// SPDX-License-Identifier: BSD-3-Clause
// NNAPI fails: at each call, with each code. Nothing crashes, leaks or stays broken.
#include <set>

#include "tests/shim/session.h"

using namespace nnapi_shim::testing;
using fake_nnapi::Record;
using fake_nnapi::Settings;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Everything that can be asked for, so that every call is made.
nnapi_shim_options all_options() {
  nnapi_shim_options options{};
  options.device = "nnapi-reference";
  options.priority = 100;
  options.compile_timeout_ns = options.execute_timeout_ns = options.loop_timeout_ns = 1000;
  options.measure_timing = 1;
  options.cache_directory = "/cache";
  return options;
}

// Failures of these are no failure of the run.
bool is_optional(const std::string& function) {
  static const std::set<std::string> names = {
      "ANeuralNetworksDevice_getType",         "ANeuralNetworksDevice_getVersion",
      "ANeuralNetworksDevice_getFeatureLevel", "ANeuralNetworksCompilation_setCaching",
      "ANeuralNetworksExecution_getDuration",  "ANeuralNetworksBurst_create"};
  return names.count(function) > 0;
}

// Returns the number of calls of a first run without failures.
int count_calls(const std::string& library, const Description& net, const nnapi_shim_options& options,
                const std::vector<Shape>& shapes) {
  fake_nnapi::Fake& nnapi = fresh_fake(library);
  Session session(net);
  REQUIRE(session.configure(library, options) == NNAPI_SHIM_OK);
  REQUIRE(session.run(shapes) == NNAPI_SHIM_OK);
  return static_cast<int>(nnapi.record().order.size());
}

void check_failure(const Session& session, int status, const std::string& function, int code) {
  CHECK((status == NNAPI_SHIM_REFUSED || status == NNAPI_SHIM_FAILED || status == NNAPI_SHIM_NO_DEVICE));
  CHECK(session.error().nnapi_code == code);
  CHECK(contains(session.message(), "ANEURALNETWORKS_OP_FAILED"));
  CHECK(contains(session.message(), function));
  CHECK(session.message() == session.last_failure().message);
  CHECK(status == session.last_failure().status);
}

}  // namespace

TEST_CASE("call N fails, for every N") {
  for (const std::string library : {"level1", "level5", "support_library"}) {
    const nnapi_shim_options options = library == "level1" ? nnapi_shim_options{} : all_options();
    const Description net = library == "level1" ? three_operations() : full_net();
    const std::vector<Shape> shapes = library == "level1" ? rows(1) : image(2);
    const int calls = count_calls(library, net, options, shapes);
    REQUIRE(calls > 20);
    for (int n = 0; n < calls; ++n) {
      Settings settings;
      settings.fail_call = n;
      fake_nnapi::Fake& nnapi = fresh_fake(library, settings);
      {
        Session session(net);
        REQUIRE(session.configure(library, options) == NNAPI_SHIM_OK);
        const int status = session.run(shapes);
        const std::string failed = nnapi.record().order.at(static_cast<size_t>(n));
        INFO(library << ", call " << n << ", " << failed << ": " << session.message());
        if (is_optional(failed)) {
          CHECK(status == NNAPI_SHIM_OK);
        } else {
          check_failure(session, status, failed, settings.fail_code);
        }
        // A failed run is tried again, and works; a refusal lasts.
        nnapi.set(Settings());
        const int later = session.run(shapes);
        CHECK((later == NNAPI_SHIM_OK) == (status == NNAPI_SHIM_OK || status == NNAPI_SHIM_FAILED));
      }
      check_all_freed(nnapi);
    }
  }
}

TEST_CASE("each code, when compiling and when running") {
  const std::vector<std::string> names = {
      "",
      "OUT_OF_MEMORY",
      "INCOMPLETE",
      "UNEXPECTED_NULL",
      "BAD_DATA",
      "OP_FAILED",
      "BAD_STATE",
      "UNMAPPABLE",
      "OUTPUT_INSUFFICIENT_SIZE",
      "UNAVAILABLE_DEVICE",
      "MISSED_DEADLINE_TRANSIENT",
      "MISSED_DEADLINE_PERSISTENT",
      "RESOURCE_EXHAUSTED_TRANSIENT",
      "RESOURCE_EXHAUSTED_PERSISTENT",
      "DEAD_OBJECT",
  };
  const std::set<int> passing = {1, 9, 10, 11, 12, 14};  // may work when tried again; 11: the caller's timeout
  for (int code = 1; code <= 14; ++code) {
    Settings settings;
    settings.fail_code = code;
    settings.fail_function = "ANeuralNetworksCompilation_finish";
    fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
    const bool is_deadline = code == 10 || code == 11;
    {
      Session session(three_operations());
      REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
      CHECK(session.warm_up(rows(1)) == (is_deadline ? NNAPI_SHIM_TIMED_OUT : NNAPI_SHIM_REFUSED));
      INFO(session.message());
      CHECK(session.error().nnapi_code == code);
      CHECK(contains(session.message(),
                     "ANeuralNetworksCompilation_finish answers ANEURALNETWORKS_" + names[static_cast<size_t>(code)]));
      nnapi.set(Settings());
      CHECK((session.warm_up(rows(1)) == NNAPI_SHIM_OK) == (passing.count(code) > 0));
      // Another shape is another compilation.
      CHECK(session.run(rows(2)) == NNAPI_SHIM_OK);
    }
    CHECK(nnapi.record().live == 0);

    settings.fail_function = "ANeuralNetworksExecution_burstCompute";
    fresh_fake("level5", settings);
    {
      Session session(three_operations());
      REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
      CHECK(session.run(rows(1)) == (is_deadline ? NNAPI_SHIM_TIMED_OUT : NNAPI_SHIM_FAILED));
      CHECK(contains(session.message(), names[static_cast<size_t>(code)]));
      CHECK(session.profile().executions == 0);
      nnapi.set(Settings());
      CHECK(session.run(rows(1)) == NNAPI_SHIM_OK);
      CHECK(session.profile().compiled == (code == 14 ? 2 : 1));
    }
    check_all_freed(nnapi);
  }
}

TEST_CASE("a driver that dies midway") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  {
    Session session(three_operations());
    REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
    auto from = session.inputs(rows(1)), to = session.outputs(rows(1));
    for (int i = 0; i < 3; ++i) REQUIRE(session.run(rows(1), from, to) == NNAPI_SHIM_OK);
    Settings dead;
    dead.fail_function = "ANeuralNetworksExecution_burstCompute";
    dead.fail_code = 14;
    nnapi.set(dead);
    CHECK(session.run(rows(1), from, to) == NNAPI_SHIM_FAILED);
    CHECK(contains(session.message(), "ANEURALNETWORKS_DEAD_OBJECT"));
    // The compiled model of the dead driver is gone.
    CHECK(nnapi.record().live == 0);
    nnapi.set(Settings());
    REQUIRE(session.run(rows(1), from, to) == NNAPI_SHIM_OK);
    CHECK(session.profile().compiled == 2);
    CHECK(session.profile().executions == 4);
    CHECK(session.last_failure().nnapi_code == 14);
  }
  CHECK(nnapi.record().live == 0);
}

TEST_CASE("a lasting refusal is not tried again") {
  Settings settings;
  settings.fail_function = "ANeuralNetworksModel_addOperation";
  settings.fail_code = 4;
  fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
  Session session(three_operations());
  REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
  CHECK(session.run(rows(1)) == NNAPI_SHIM_REFUSED);
  const std::string message = session.message();
  CHECK(contains(message,
                 "NNAPI refuses operation 0 ADD (first, net.py:3) of the model: "
                 "ANeuralNetworksModel_addOperation answers ANEURALNETWORKS_BAD_DATA"));
  CHECK(session.run(rows(1)) == NNAPI_SHIM_REFUSED);
  CHECK(session.message() == message);
  CHECK(nnapi.record().calls["ANeuralNetworksModel_create"] == 1);
}

TEST_CASE("no NNAPI on this machine") {
  Session session(three_operations());
  nnapi_shim_options options{};
  options.struct_bytes = sizeof(options);
  options.library = "/nowhere/libneuralnetworks.so";
  nnapi_shim_error error;
  REQUIRE(nnapi_shim_configure(session.model(), &options, &error) == NNAPI_SHIM_OK);
  CHECK(session.run(rows(1)) == NNAPI_SHIM_UNAVAILABLE);
  CHECK(session.last_failure().status == NNAPI_SHIM_UNAVAILABLE);
  CHECK(session.profile().compiled == 0);
}
