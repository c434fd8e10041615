// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/trial_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "lib/shim/failure.h"
#include "lib/shim/monotonic_clock.h"

namespace nnapi_shim {
namespace {

// The most starts of the process. Each start that dies condemns one choice of devices, of which there are likely fewer.
constexpr int kMostStarts = 16;
constexpr int kCantStart = 127;

std::vector<std::string> arguments_of(const TrialRequest& request) {
  const Options& options = request.options;
  std::vector<std::string> arguments = {request.program, "--trial", request.path, "--cache", options.cache_directory};
  const auto add = [&arguments](const char* name, const std::string& value) {
    arguments.emplace_back(name);
    arguments.push_back(value);
  };
  if (!options.library.empty()) add(options.is_support_library ? "--support-library" : "--library", options.library);
  if (!options.device.empty()) add("--device", options.device);
  if (!options.driver_rules.empty()) add("--driver-rules-text", options.driver_rules);
  if (!options.driver_rules_file.empty()) add("--driver-rules", options.driver_rules_file);
  if (options.device_kind != NNAPI_SHIM_ANY_DEVICE) add("--device-kind", std::to_string(options.device_kind));
  if (options.preference != 0) add("--preference", std::to_string(options.preference));
  if (options.variant != 0) add("--variant", std::to_string(options.variant));
  return arguments;
}

// Starts the program. Between fork and exec the child calls only functions that are safe there: other threads may hold
// locks.
pid_t start(const std::vector<std::string>& arguments) {
  std::vector<char*> texts;
  for (const std::string& argument : arguments) texts.push_back(const_cast<char*>(argument.c_str()));
  texts.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::execv(texts[0], texts.data());
  ::_exit(kCantStart);
}

// Returns whether the child ended within the limit; ends it if not.
bool wait_for(pid_t child, uint64_t limit_ns, int* status) {
  const uint64_t begin = now_ns();
  const timespec moment = {0, 2000000};
  for (;;) {
    const pid_t found = ::waitpid(child, status, limit_ns == 0 ? 0 : WNOHANG);
    if (found == child) return true;
    if (found < 0 && errno != EINTR) return true;  // the app waits for its children elsewhere
    if (limit_ns != 0 && now_ns() - begin > limit_ns) break;
    if (found == 0) ::nanosleep(&moment, nullptr);
  }
  ::kill(child, SIGKILL);
  while (::waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
  return false;
}

}  // namespace

int run_trial_process(const TrialRequest& request, nnapi_shim_error* error) {
  const std::vector<std::string> arguments = arguments_of(request);
  bool has_hung = false;
  for (int i = 0; i < kMostStarts; ++i) {
    const pid_t child = start(arguments);
    if (child < 0) {
      return fail(error, NNAPI_SHIM_FAILED, "the trial's process can't be started: %s", std::strerror(errno));
    }
    int status = 0;
    has_hung = !wait_for(child, request.limit_ns, &status);
    if (has_hung || !WIFEXITED(status)) continue;
    if (WEXITSTATUS(status) == 0) return NNAPI_SHIM_OK;
    return fail(error, NNAPI_SHIM_FAILED, "the trial's program %.200s %s %d", request.program,
                WEXITSTATUS(status) == kCantStart ? "can't be run: exit code" : "failed with exit code",
                WEXITSTATUS(status));
  }
  return fail(error, has_hung ? NNAPI_SHIM_TIMED_OUT : NNAPI_SHIM_FAILED,
              "the trial's program %.200s %s at each of %d starts", request.program, has_hung ? "hung" : "died",
              kMostStarts);
}

}  // namespace nnapi_shim
