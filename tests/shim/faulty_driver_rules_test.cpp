// SPDX-License-Identifier: BSD-3-Clause
// Drivers that rules call wrong are not tried.
#include <catch2/catch.hpp>

#include "tests/shim/app_start.h"
#include "tests/temporary_folder.h"

using namespace nnapi_shim::testing;
using faulty_nnapi::Fault;
using faulty_nnapi::FaultKind;
using nnapi_convert::test::TemporaryFolder;

TEST_CASE("a driver that is known to be wrong is not tried: the first start is right") {
  constexpr const char* kWhole = R"({"version": 1, "rules": [{"device": "al*", "from": "1", "before": "2",
                                     "reason": "it is wrong"}]})";
  constexpr const char* kOperation = R"({"version": 1, "rules": [{"device": "alpha", "operations": ["MUL"],
                                         "reason": "it multiplies wrongly"}]})";
  for (const FaultKind kind : {FaultKind::kWrong, FaultKind::kCrashCompile, FaultKind::kHangRun}) {
    for (const char* rules : {kWhole, kOperation}) {
      for (const bool is_checked : {true, false}) {
        const TemporaryFolder folder;
        AppSetting setting = setting_of(folder, {fault_of(kind)});
        setting.change_options = [&](nnapi_shim_options* options) {
          options->driver_rules = rules;
          options->no_self_check = is_checked ? 0 : 1;
        };
        const Started started = start_app(sampled_net(), setting);
        INFO(static_cast<int>(kind) << " " << rules << started.message);
        CHECK(started.outcome == Outcome::kRight);
        CHECK(started.devices == "beta, nnapi-reference");
        CHECK(started.last_failure.find("alpha (driver 1) is not used, as its driver is known to be wrong: it ") == 0);
        CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"beta"});
      }
    }
  }
  // The next version of the driver is not in the rule.
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {});
  setting.version = "2";
  setting.change_options = [&](nnapi_shim_options* options) { options->driver_rules = kWhole; };
  CHECK(start_app(sampled_net(), setting).last_failure.empty());
  CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha"});
}

TEST_CASE("samples of sizes that a rule is about are not run on the device") {
  Fault fault = fault_of(FaultKind::kCrashCompile);
  fault.elements = 128;  // of the samples' two rows
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {fault});
  setting.rows = 1;
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kDied);
  const TemporaryFolder other_folder;
  setting.folder = other_folder.path().string();
  setting.change_options = [](nnapi_shim_options* options) {
    options->driver_rules =
        R"({"version": 1, "rules": [{"device": "alpha", "elements": 128, "reason": "it is wrong"}]})";
  };
  Started started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(started.checked_samples == 0);
  CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha"});
  setting.rows = 2;
  started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(started.devices == "beta, nnapi-reference");
}

TEST_CASE("the state tells the drivers known to be wrong, and those found wrong") {
  Fault fault = fault_of(FaultKind::kWrong);
  fault.device = "beta";
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {fault});
  setting.change_options = [](nnapi_shim_options* options) {
    options->driver_rules = R"({"version": 1, "rules": [{"device": "alpha", "reason": "it is wrong"}]})";
  };
  const Started started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(started.devices == "nnapi-reference");
  CHECK(started.last_failure.find("alpha (driver 1) is not used") == 0);
  CHECK(started.last_failure.find("; beta, nnapi-reference fails with sample 0") != std::string::npos);
}
