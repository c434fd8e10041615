// SPDX-License-Identifier: BSD-3-Clause
// Faults of drivers that a trial in a process of its own finds before the app starts.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/shim/app_start.h"
#include "tests/temporary_folder.h"

using namespace nnapi_shim::testing;
using faulty_nnapi::FaultKind;
using nnapi_convert::test::TemporaryFolder;

TEST_CASE("with the trial's process the first start is right") {
  struct Case {
    FaultKind kind;
    int run;
    const char* device;
    uint64_t seconds = 15;  // that the trial of a device may take
  };
  for (const Case& each : {Case{FaultKind::kNone, 1, ""},
                           {FaultKind::kCrashCompile, 1, "beta"},
                           {FaultKind::kCrashRun, 3, "beta"},
                           {FaultKind::kCrashRun, 8, "beta"},
                           {FaultKind::kHangCompile, 1, "beta", 6},
                           {FaultKind::kWrong, 1, "beta"},
                           {FaultKind::kRefuseRun, 5, "beta"}}) {
    const TemporaryFolder folder;
    AppSetting setting = setting_of(folder, {fault_of(each.kind, each.run)});
    setting.seconds = 100;
    const std::string archive = write_archive(sampled_net(), setting.folder);
    int* const answer = shared_number();
    setting.before = [&] {
      nnapi_shim_options options{};
      options.struct_bytes = sizeof options;
      options.library = FAULTY_NNAPI_LIBRARY;
      options.cache_directory = setting.folder.c_str();
      nnapi_shim_error error{};
      const uint64_t limit = each.seconds * 1000000000u;
      *answer = nnapi_shim_probe_process(NNAPI_PROBE_PROGRAM, archive.c_str(), &options, limit, &error);
      take_attempts(setting.folder);
    };
    const Started started = start_app(sampled_net(), setting);
    INFO(static_cast<int>(each.kind) << " run " << each.run << ": " << started.message);
    CHECK(*answer == NNAPI_SHIM_OK);
    CHECK(started.outcome == Outcome::kRight);
    CHECK(started.devices == each.device);
    // What the trial has found is not tried again.
    CHECK(take_attempts(setting.folder).compiled.size() == 1);
  }
}

TEST_CASE("the trial's process keeps to the app's driver rules") {
  const TemporaryFolder folder;
  const std::string cache = folder.path().string(), rules_file = folder.file("rules.json");
  const std::string rules = R"({"version": 1, "rules": [{"device": "alpha", "reason": "it is wrong"}]})";
  std::ofstream(rules_file) << rules;
  const std::string archive = write_archive(sampled_net(), cache);
  for (const bool is_file : {false, true}) {
    AppSetting setting = setting_of(folder, {fault_of(FaultKind::kCrashCompile)});
    int* const answer = shared_number();
    setting.seconds = 20;
    setting.change_options = [&](nnapi_shim_options* options) {
      (is_file ? options->driver_rules_file : options->driver_rules) = is_file ? rules_file.c_str() : rules.c_str();
    };
    setting.before = [&] {
      nnapi_shim_options options{};
      options.struct_bytes = sizeof options;
      options.library = FAULTY_NNAPI_LIBRARY;
      options.cache_directory = cache.c_str();
      setting.change_options(&options);
      *answer = nnapi_shim_probe_process(NNAPI_PROBE_PROGRAM, archive.c_str(), &options, 15000000000u, nullptr);
    };
    CHECK(start_app(sampled_net(), setting).outcome == Outcome::kRight);
    CHECK(*answer == NNAPI_SHIM_OK);
    CHECK(take_attempts(setting.folder).compiled_for("alpha") == 0);
  }
}

TEST_CASE("the trial's process gets the app's preference and its model of a package") {
  const TemporaryFolder folder;
  const std::string cache = folder.path().string(), program = folder.file("program"), seen = folder.file("seen");
  std::ofstream(program) << "#!/bin/sh\necho \"$@\" >" << seen << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string archive = write_archive(sampled_net(), cache);
  nnapi_shim_options options{};
  options.struct_bytes = sizeof options;
  options.cache_directory = cache.c_str();
  options.preference = 2;
  options.variant = 1;
  CHECK(nnapi_shim_probe_process(program.c_str(), archive.c_str(), &options, 0, nullptr) == NNAPI_SHIM_OK);
  std::string line;
  std::getline(std::ifstream(seen), line);
  CHECK(line.find("--preference 2 --variant 1") != std::string::npos);
}

TEST_CASE("the trial says what it lacks") {
  const TemporaryFolder folder;
  const std::string archive = write_archive(sampled_net(), folder.path().string());
  nnapi_shim_options options{};
  options.struct_bytes = sizeof options;
  nnapi_shim_error error{};
  CHECK(nnapi_shim_probe_process("/nowhere", archive.c_str(), &options, 0, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(std::string(error.message) == "options: a trial needs cache_directory, where its verdicts are kept");
  CHECK(nnapi_shim_probe(archive.c_str(), &options, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  const std::string cache = folder.path().string();
  options.cache_directory = cache.c_str();
  CHECK(nnapi_shim_probe_process("/nowhere", archive.c_str(), &options, 0, &error) == NNAPI_SHIM_FAILED);
  CHECK(std::string(error.message).find("/nowhere can't be run") != std::string::npos);
  Description plain = sampled_net();
  plain.samples.clear();
  const std::string without = write_archive(plain, cache);
  CHECK(nnapi_shim_probe(without.c_str(), &options, &error) == NNAPI_SHIM_BAD_MODEL);
  CHECK(std::string(error.message) == "the file has no samples; convert the model with --self-check");
}
