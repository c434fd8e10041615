// SPDX-License-Identifier: BSD-3-Clause
#include "tests/shim/app_start.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "lib/format/buffer_samples.h"
#include "tests/shim/three_operations.h"
#include "tests/shim/zip_maker.h"

namespace nnapi_shim::testing {
namespace {

using Floats = std::vector<float>;

constexpr size_t kMessageBytes = 512;

struct Report {
  Outcome outcome;
  uint32_t checked_samples;
  bool weights_are_mapped;
  char message[kMessageBytes], devices[256], last_failure[kMessageBytes];
};

Floats right_results(const Floats& input) {
  Floats results;
  for (const float x : input) results.push_back((x + 1.5f) * (x + 1.5f) + 1.5f);
  return results;
}

bool is_near(const Floats& found, const Floats& expected) {
  for (size_t i = 0; i < found.size(); ++i) {
    if (!(std::fabs(found[i] - expected[i]) <= 1e-3f)) return false;
  }
  return true;
}

void set_environment(const AppSetting& setting) {
  std::string text;
  for (const faulty_nnapi::Fault& fault : setting.faults) text += fault.text();
  setenv("FAULTY_NNAPI", text.c_str(), 1);
  setenv("FAULTY_NNAPI_VERSION", setting.version.c_str(), 1);
  const std::string log = setting.folder + "/attempts.log";
  setting.folder.empty() ? unsetenv("FAULTY_NNAPI_LOG") : setenv("FAULTY_NNAPI_LOG", log.c_str(), 1);
}

void run_app(const MadeBuffer& made, const AppSetting& setting, Report* report) {
  nnapi_shim_error error{};
  nnapi_shim_model* model = nullptr;
  report->outcome = Outcome::kFailed;
  nnapi_shim_options options{};
  options.struct_bytes = sizeof options;
  options.library = FAULTY_NNAPI_LIBRARY;
  options.cache_directory = setting.folder.empty() ? nullptr : setting.folder.c_str();
  if (setting.change_options) setting.change_options(&options);
  int status = setting.archive.empty()
                   ? nnapi_shim_open_memory(made.words.data(), made.words.size(), made.weights.data(),
                                            made.weights.size(), &model, &error)
                   : nnapi_shim_open_file(setting.archive.c_str(), &model, &error);
  if (status == NNAPI_SHIM_OK) status = nnapi_shim_configure(model, &options, &error);
  const int64_t sizes[] = {setting.rows, 64};
  const nnapi_shim_shape shape = {2, sizes};
  Floats input(static_cast<size_t>(setting.rows) * 64), output(input.size());
  bool is_right = true;
  for (int run = 0; run < setting.runs && status == NNAPI_SHIM_OK; ++run) {
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i) / 64 - static_cast<float>(run);
    const nnapi_shim_buffer from = {input.data(), input.size() * 4}, to = {output.data(), output.size() * 4};
    status = nnapi_shim_run(model, &shape, 1, &from, 1, &to, 1, &error);
    if (status == NNAPI_SHIM_OK) is_right = is_right && is_near(output, right_results(input));
  }
  nnapi_shim_profile profile;
  nnapi_shim_error failure;
  nnapi_shim_get_profile(model, &profile);
  nnapi_shim_last_failure(model, &failure);
  std::snprintf(report->message, sizeof report->message, "%s", error.message);
  std::snprintf(report->devices, sizeof report->devices, "%s", profile.devices);
  std::snprintf(report->last_failure, sizeof report->last_failure, "%s", failure.message);
  report->checked_samples = profile.checked_samples;
  report->weights_are_mapped = profile.weights_are_mapped != 0;
  report->outcome = !is_right ? Outcome::kWrong : status == NNAPI_SHIM_OK ? Outcome::kRight : Outcome::kFailed;
  nnapi_shim_close(model);
}

// Returns whether the child ended by itself within the time.
bool wait_for(pid_t child, double seconds, int* status) {
  const timespec moment = {0, 1000000};
  for (double waited = 0; waited < seconds; waited += 1e-3) {
    if (waitpid(child, status, WNOHANG) == child) return true;
    nanosleep(&moment, nullptr);
  }
  kill(child, SIGKILL);
  waitpid(child, status, 0);
  return false;
}

}  // namespace

Description sampled_net() {
  Description net = three_operations();
  for (const uint32_t seed : {11u, 12u}) {
    Floats input(128);
    for (size_t i = 0; i < input.size(); ++i) {
      input[i] = nnapi_convert::buffer_samples::uniform_float(seed, i, -2.0f, 2.0f);
    }
    net.samples.push_back(
        joined({{2, 64}, uniform_input(seed, -2.0f, 2.0f), float_output(right_results(input), 1e-3f)}));
  }
  return net;
}

const char* name_of(Outcome outcome) {
  const char* names[] = {"right", "wrong", "failed", "died", "hung"};
  return names[static_cast<int>(outcome)];
}

faulty_nnapi::Fault fault_of(faulty_nnapi::FaultKind kind, int run) {
  faulty_nnapi::Fault fault;
  fault.kind = kind;
  fault.run = run;
  return fault;
}

AppSetting setting_of(const nnapi_convert::test::TemporaryFolder& folder,
                      const std::vector<faulty_nnapi::Fault>& faults) {
  AppSetting setting;
  setting.folder = folder.path().string();
  setting.faults = faults;
  return setting;
}

int* shared_number() {
  void* memory = mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return static_cast<int*>(memory);
}

Started start_app(const Description& net, const AppSetting& setting) {
  // Loading the host's NNAPI takes long: done once, children have it then.
  static void* const library = dlopen(FAULTY_NNAPI_LIBRARY, RTLD_NOW);
  if (!library) return {Outcome::kFailed, dlerror(), "", "", 0, false};
  const MadeBuffer made = make_buffer(net);
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    set_environment(setting);
    if (setting.before) setting.before();
    Report report{};
    run_app(made, setting, &report);
    const bool is_written = write(ends[1], &report, sizeof report) == sizeof report;
    _exit(is_written ? 0 : 1);
  }
  close(ends[1]);
  int status = 0;
  const bool has_ended = wait_for(child, setting.seconds, &status);
  Report report{};
  const bool is_read = has_ended && WIFEXITED(status) && read(ends[0], &report, sizeof report) == sizeof report;
  close(ends[0]);
  if (!has_ended) return {Outcome::kHung, "", "", "", 0, false};
  if (!is_read) return {};
  return {report.outcome,      report.message,         report.devices,
          report.last_failure, report.checked_samples, report.weights_are_mapped};
}

std::string write_archive(const Description& net, const std::string& folder) {
  const MadeBuffer made = make_buffer(net);
  const std::string index = "data/1\ndata/0\n", path = folder + "/net.pt";
  const std::vector<uint8_t> bytes =
      make_zip({{"n/data/0", made.weights, format::kPageAlignment},
                {"n/data/1", bytes_of(made.words)},
                {"n/extra/nnapi_shim.index", std::vector<uint8_t>(index.begin(), index.end())}},
               {});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

int Attempts::compiled_for(const std::string& device) const {
  return static_cast<int>(std::count(compiled.begin(), compiled.end(), device));
}

Attempts take_attempts(const std::string& folder) {
  const std::string path = folder + "/attempts.log";
  Attempts attempts;
  {
    std::ifstream file(path);
    std::string what, device;
    while (file >> what >> device) (what == "compile" ? attempts.compiled : attempts.run).push_back(device);
  }
  std::remove(path.c_str());
  return attempts;
}

}  // namespace nnapi_shim::testing
