// SPDX-License-Identifier: BSD-3-Clause
// Drivers with faults: which results an app gets, at which start, and what is tried again.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "tests/shim/app_start.h"
#include "tests/temporary_folder.h"

using namespace nnapi_shim::testing;
using faulty_nnapi::Fault;
using faulty_nnapi::FaultKind;
using nnapi_convert::test::TemporaryFolder;

namespace {

constexpr int kMul = 18, kConv2d = 3;

bool is_lethal(FaultKind kind) {
  return kind == FaultKind::kCrashCompile || kind == FaultKind::kCrashRun || kind == FaultKind::kHangCompile ||
         kind == FaultKind::kHangRun || kind == FaultKind::kCrashCached;
}

// SHIM_RANDOM_ROUNDS=1000 takes two minutes.
int random_rounds() {
  const char* text = std::getenv("SHIM_RANDOM_ROUNDS");
  return text == nullptr ? 200 : std::atoi(text);
}

}  // namespace

TEST_CASE("a device without a fault is used, and its samples run") {
  const TemporaryFolder folder;
  const AppSetting setting = setting_of(folder, {});
  Started started = start_app(sampled_net(), setting);
  INFO(started.message);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(started.last_failure.empty());
  CHECK(started.checked_samples == 2);
  Attempts attempts = take_attempts(setting.folder);
  CHECK(attempts.compiled == std::vector<std::string>{"alpha"});
  CHECK(attempts.run.size() == 2 + 4);
  // A device that is known to be good gets one sample at a later start.
  started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(started.checked_samples == 1);
  attempts = take_attempts(setting.folder);
  CHECK(attempts.run.size() == 1 + 4);
}

TEST_CASE("wrong values, NaN, nothing written, refusals: the app never sees them") {
  for (const FaultKind kind :
       {FaultKind::kWrong, FaultKind::kNan, FaultKind::kNothing, FaultKind::kRefuse, FaultKind::kRefuseRun}) {
    for (const int operation : {-1, kMul}) {
      const TemporaryFolder folder;
      Fault fault = fault_of(kind);
      fault.operation = operation;
      fault.amount = 0.01f;
      const AppSetting setting = setting_of(folder, {fault});
      Started started = start_app(sampled_net(), setting);
      INFO(static_cast<int>(kind) << ": " << name_of(started.outcome) << " " << started.message);
      CHECK(started.outcome == Outcome::kRight);
      CHECK(started.devices == "beta");
      CHECK_FALSE(started.last_failure.empty());
      Attempts attempts = take_attempts(setting.folder);
      // Alpha as NNAPI's choice, alpha alone, beta.
      CHECK(attempts.compiled == std::vector<std::string>{"alpha", "alpha", "beta"});
      started = start_app(sampled_net(), setting);
      CHECK(started.outcome == Outcome::kRight);
      attempts = take_attempts(setting.folder);
      CHECK(attempts.compiled == std::vector<std::string>{"beta"});
      CHECK(started.last_failure.find("is not used, as it failed before") != std::string::npos);
    }
  }
}

TEST_CASE("a fault of an operation or a shape that the model does not have") {
  Fault other_operation = fault_of(FaultKind::kWrong), other_shape = fault_of(FaultKind::kCrashCompile);
  other_operation.operation = kConv2d;
  other_shape.elements = 1001;
  const TemporaryFolder folder;
  const AppSetting setting = setting_of(folder, {other_operation, other_shape});
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kRight);
  CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha"});
}

TEST_CASE("a fault of one shape: the samples have it") {
  Fault fault = fault_of(FaultKind::kWrong);
  fault.elements = 128;  // of two rows
  for (const int64_t rows : {2, 3}) {
    const TemporaryFolder folder;
    AppSetting setting = setting_of(folder, {fault});
    setting.rows = rows;
    const Started started = start_app(sampled_net(), setting);
    INFO(started.message);
    CHECK(started.outcome == Outcome::kRight);
    CHECK(started.devices == "beta");
  }
}

TEST_CASE("a device that fails in a run of the app: another one does it") {
  for (const FaultKind kind : {FaultKind::kRefuseRun, FaultKind::kDeadRun}) {
    const TemporaryFolder folder;
    const AppSetting setting = setting_of(folder, {fault_of(kind, 4)});
    Started started = start_app(sampled_net(), setting);
    INFO(started.message);
    CHECK(started.outcome == Outcome::kRight);
    CHECK(started.devices == (kind == FaultKind::kDeadRun ? "nnapi-reference" : "beta"));
    started = start_app(sampled_net(), setting);
    CHECK(started.outcome == Outcome::kRight);
    for (int start = 3; start < 5; ++start) {
      take_attempts(setting.folder);
      started = start_app(sampled_net(), setting);
      CHECK(started.outcome == Outcome::kRight);
      CHECK(take_attempts(setting.folder).compiled.size() == 1);
    }
  }
}

TEST_CASE("an input that no device takes condemns none") {
  std::vector<Fault> faults;
  for (const char* device : {"alpha", "beta", "nnapi-reference"}) {
    faults.push_back(fault_of(FaultKind::kRefuseRun, 3));
    faults.back().device = device;
  }
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, faults);
  const Started started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kFailed);
  CHECK(started.message.find("the execution on the device that NNAPI chose failed") == 0);
  setting.faults.clear();
  take_attempts(setting.folder);
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kRight);
  CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha"});
}

TEST_CASE("crashes and hangs: the second start is right") {
  struct Case {
    FaultKind kind;
    int run;
    Outcome first;
  };
  for (const Case& each : {Case{FaultKind::kCrashCompile, 1, Outcome::kDied},
                           {FaultKind::kCrashRun, 1, Outcome::kDied},
                           {FaultKind::kCrashRun, 3, Outcome::kDied},
                           {FaultKind::kCrashRun, 6, Outcome::kDied},
                           {FaultKind::kHangCompile, 1, Outcome::kHung},
                           {FaultKind::kHangRun, 3, Outcome::kHung}}) {
    const TemporaryFolder folder;
    AppSetting setting = setting_of(folder, {fault_of(each.kind, each.run)});
    setting.seconds = each.first == Outcome::kHung ? 0.5 : 3;
    INFO(static_cast<int>(each.kind) << " run " << each.run);
    CHECK(start_app(sampled_net(), setting).outcome == each.first);
    take_attempts(setting.folder);
    for (int start = 2; start <= 3; ++start) {
      const Started started = start_app(sampled_net(), setting);
      INFO(started.message);
      CHECK(started.outcome == Outcome::kRight);
      CHECK(started.devices == "nnapi-reference");
      CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"nnapi-reference"});
    }
  }
}

TEST_CASE("after an update of the driver the device is tried again, once") {
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {fault_of(FaultKind::kCrashCompile)});
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kDied);
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kRight);
  setting.version = "2";
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kDied);
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kRight);
  setting.version = "3";
  setting.faults.clear();
  take_attempts(setting.folder);
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kRight);
  CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha"});
}

TEST_CASE("a compiled model in the cache that is refused, wrong or deadly") {
  for (const FaultKind kind : {FaultKind::kRefuseCached, FaultKind::kWrongCached, FaultKind::kCrashCached}) {
    const TemporaryFolder folder;
    const AppSetting setting = setting_of(folder, {fault_of(kind)});
    INFO(static_cast<int>(kind));
    CHECK(start_app(sampled_net(), setting).outcome == Outcome::kRight);
    CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha"});
    Started started = start_app(sampled_net(), setting);
    Attempts attempts = take_attempts(setting.folder);
    if (kind == FaultKind::kCrashCached) {
      CHECK(started.outcome == Outcome::kDied);
      started = start_app(sampled_net(), setting);
      CHECK(started.devices == "nnapi-reference");
    } else {
      // Compiled anew, without the cache.
      CHECK(attempts.compiled == std::vector<std::string>{"alpha", "alpha"});
    }
    CHECK(started.outcome == Outcome::kRight);
    take_attempts(setting.folder);
    started = start_app(sampled_net(), setting);
    CHECK(started.outcome == Outcome::kRight);
    CHECK(take_attempts(setting.folder).compiled.size() == 1);
  }
}

TEST_CASE("all devices fail: one sentence, and no result") {
  std::vector<Fault> faults;
  for (const char* device : {"alpha", "beta", "nnapi-reference"}) {
    faults.push_back(fault_of(FaultKind::kWrong));
    faults.back().device = device;
  }
  const TemporaryFolder folder;
  const Started started = start_app(sampled_net(), setting_of(folder, faults));
  CHECK(started.outcome == Outcome::kFailed);
  CHECK(started.message.find("the device that NNAPI chose fails with sample 0 of the file: element") == 0);
}

TEST_CASE("a device that is named is the only one") {
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {fault_of(FaultKind::kWrong)});
  setting.change_options = [](nnapi_shim_options* options) { options->device = "alpha"; };
  Started started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kFailed);
  CHECK(started.message.find("alpha fails with sample 0 of the file: element ") == 0);
  take_attempts(setting.folder);
  started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kFailed);
  CHECK(started.message.find("alpha is not used, as it failed before: alpha fails with sample 0") == 0);
  CHECK(take_attempts(setting.folder).compiled.empty());
}

TEST_CASE("without a cache directory each start checks all samples") {
  AppSetting setting;
  setting.faults = {fault_of(FaultKind::kWrong)};
  for (int start = 0; start < 2; ++start) {
    const Started started = start_app(sampled_net(), setting);
    INFO(started.message);
    CHECK(started.outcome == Outcome::kRight);
    CHECK(started.checked_samples == 2);
  }
}

TEST_CASE("the option that turns the check off, and files without samples") {
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {fault_of(FaultKind::kWrong)});
  setting.change_options = [](nnapi_shim_options* options) { options->no_self_check = 1; };
  CHECK(start_app(sampled_net(), setting).outcome == Outcome::kWrong);
  Description plain = sampled_net();
  plain.samples.clear();
  setting.change_options = nullptr;
  CHECK(start_app(plain, setting).outcome == Outcome::kWrong);
}

TEST_CASE("drivers that can't map the weights' file get a copy, at the first start") {
  for (const FaultKind kind : {FaultKind::kRefuseMapped, FaultKind::kZeroMapped}) {
    for (const bool has_cache : {true, false}) {
      const TemporaryFolder folder;
      AppSetting setting = setting_of(folder, {fault_of(kind)});
      setting.archive = write_archive(sampled_net(), setting.folder);
      if (!has_cache) setting.change_options = [](nnapi_shim_options* options) { options->cache_directory = nullptr; };
      Started started = start_app(sampled_net(), setting);
      INFO(static_cast<int>(kind) << ": " << name_of(started.outcome) << " " << started.message);
      CHECK(started.outcome == Outcome::kRight);
      CHECK_FALSE(started.weights_are_mapped);
      CHECK(started.checked_samples == 2);
      CHECK(started.last_failure.find(
                "the device that NNAPI chose gets a copy of the weights, as it fails where it has to "
                "map their file: ") == 0);
      CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha", "alpha"});
      // The verdict remembers the copy.
      started = start_app(sampled_net(), setting);
      CHECK(started.outcome == Outcome::kRight);
      CHECK_FALSE(started.weights_are_mapped);
      CHECK(started.checked_samples == (has_cache ? 1 : 2));
      CHECK(take_attempts(setting.folder).compiled_for("alpha") == (has_cache ? 1 : 2));
    }
  }
}

TEST_CASE("a driver that could map the file once, and can't any more") {
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {});
  setting.archive = write_archive(sampled_net(), setting.folder);
  Started started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(started.weights_are_mapped);
  for (const FaultKind kind : {FaultKind::kRefuseMapped, FaultKind::kZeroMapped}) {
    setting.faults = {fault_of(kind)};
    for (int start = 0; start < 2; ++start) {
      started = start_app(sampled_net(), setting);
      INFO(started.message);
      CHECK(started.outcome == Outcome::kRight);
      CHECK_FALSE(started.weights_are_mapped);
    }
  }
}

TEST_CASE("a driver that fails with a copy, too, is condemned once") {
  const TemporaryFolder folder;
  AppSetting setting = setting_of(folder, {fault_of(FaultKind::kWrong)});
  setting.archive = write_archive(sampled_net(), setting.folder);
  Started started = start_app(sampled_net(), setting);
  INFO(started.message);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(started.devices == "beta");
  CHECK(started.weights_are_mapped);
  CHECK(started.last_failure.find("the device that NNAPI chose fails with sample 0 of the file: element") == 0);
  CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"alpha", "alpha", "alpha", "alpha", "beta"});
  started = start_app(sampled_net(), setting);
  CHECK(started.outcome == Outcome::kRight);
  CHECK(take_attempts(setting.folder).compiled == std::vector<std::string>{"beta"});
}

TEST_CASE("without samples, a driver that refuses weights by file descriptor gets a copy") {
  const TemporaryFolder folder;
  Description plain = sampled_net();
  plain.samples.clear();
  AppSetting setting = setting_of(folder, {fault_of(FaultKind::kRefuseMapped)});
  setting.archive = write_archive(plain, setting.folder);
  const Started started = start_app(plain, setting);
  INFO(started.message);
  CHECK(started.outcome == Outcome::kRight);
  CHECK_FALSE(started.weights_are_mapped);
  CHECK(started.last_failure.find("gets a copy of the weights") != std::string::npos);
}

TEST_CASE("random faults: none gives a wrong result, and none kills an app twice") {
  std::mt19937 random(20240);
  const auto pick = [&random](int below) { return static_cast<int>(random() % static_cast<uint32_t>(below)); };
  int lethal = 0, harmless = 0;
  const int rounds = random_rounds();
  for (int round = 0; round < rounds; ++round) {
    const TemporaryFolder folder;
    AppSetting setting = setting_of(folder, {});
    const int count = 1 + pick(2);
    bool may_hang = false;
    for (int i = 0; i < count; ++i) {
      Fault fault = fault_of(static_cast<FaultKind>(1 + pick(static_cast<int>(FaultKind::kKinds) - 1)), 1 + pick(6));
      // A hang takes its second: few of them.
      const bool hangs = fault.kind == FaultKind::kHangCompile || fault.kind == FaultKind::kHangRun;
      if (hangs && round % 20 != 0) fault.kind = FaultKind::kWrong;
      may_hang = may_hang || (hangs && round % 20 == 0);
      if (pick(3) == 0) fault.device = "beta";
      if (pick(4) == 0) fault.operation = pick(2) == 0 ? kMul : kConv2d;
      if (pick(4) == 0) fault.elements = pick(2) == 0 ? 128 : 77;
      fault.amount = (pick(2) == 0 ? -1.0f : 1.0f) * 0.002f * static_cast<float>(1 << pick(16));
      setting.faults.push_back(fault);
    }
    setting.seconds = may_hang ? 1 : 60;  // a busy machine may take more than a second without a hang
    setting.rows = 1 + pick(3);
    for (Fault& fault : setting.faults) {
      // Where the samples have other shapes, a good device's compiled model in the cache is taken without a check.
      if (fault.kind == FaultKind::kWrongCached && setting.rows != 2) fault.kind = FaultKind::kWrong;
      // Such a fault is none for the shapes of the samples.
      if (setting.rows != 2 && fault.elements != 0) fault.elements = 77;
    }
    bool may_die = false;
    for (const Fault& fault : setting.faults) may_die = may_die || is_lethal(fault.kind);
    int died = 0;
    for (int start = 1; start <= 2 + count; ++start) {
      const Started started = start_app(sampled_net(), setting);
      INFO("round " << round << " start " << start << ": " << setting.faults[0].text() << "/ "
                    << setting.faults.back().text() << started.message);
      CHECK(started.outcome != Outcome::kWrong);
      const bool has_ended = started.outcome == Outcome::kDied || started.outcome == Outcome::kHung;
      died += has_ended ? 1 : 0;
      // Each fault may show at a start of its own: one that only a model in the cache has, at a device's second start.
      if (start == 2 + count) CHECK(started.outcome == Outcome::kRight);
      if (!may_die) CHECK(!has_ended);
    }
    CHECK(died <= count);
    lethal += died > 0 ? 1 : 0;
    harmless += died == 0 ? 1 : 0;
  }
  CHECK(lethal > rounds / 20);
  CHECK(harmless > rounds / 20);
}
