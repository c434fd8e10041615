// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/judging_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "lib/base/error.h"

extern char** environ;

namespace nnapi_convert {
namespace {

using Clock = std::chrono::steady_clock;

// Starts the shell in a process group of its own, so that all of it can be ended. `output` takes standard output.
pid_t start_shell(const std::string& text, const std::string& folder, int output) {
  std::string shell = "sh", flag = "-c", script = text + " \"$0\"", argument = folder;
  char* words[] = {shell.data(), flag.data(), script.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int code = ::posix_spawn(&child, "/bin/sh", &actions, &attributes, words, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return code == 0 ? child : -1;
}

// Returns the text read until the other end is closed; nothing if the deadline passes first.
std::optional<std::string> read_until(int end, Clock::time_point deadline) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd waiting = {end, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    const ssize_t bytes = ::read(end, buffer, sizeof(buffer));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return text;
    text.append(buffer, static_cast<size_t>(bytes));
  }
}

std::string last_line(std::string text) {
  const size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  text.resize(end + 1);
  const size_t begin = text.rfind('\n');
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

std::optional<double> number_in(const std::string& line) {
  char* end = nullptr;
  const double number = std::strtod(line.c_str(), &end);
  const bool is_number = !line.empty() && end == line.c_str() + line.size() && std::isfinite(number);
  return is_number ? std::optional<double>(number) : std::nullopt;
}

}  // namespace

double judged_by_program(const std::string& option, const std::string& command, const std::string& folder,
                         int seconds) {
  const auto fail = [&](const std::string& problem) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{} {}: {}", option, command, problem));
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(std::strerror(errno));
  const pid_t child = start_shell(command, folder, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    fail("the shell can't be run");
  }
  const auto output = read_until(ends[0], Clock::now() + std::chrono::seconds(seconds));
  ::close(ends[0]);
  if (!output) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!output) fail(fmt::format("no number after {} seconds; the program was ended", seconds));
  if (!WIFEXITED(status)) fail(fmt::format("the program ended by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) fail(fmt::format("exit code {} found, 0 needed", WEXITSTATUS(status)));
  const std::string line = last_line(*output);
  const auto number = number_in(line);
  if (!number) fail(fmt::format("'{}' found as the last line that it prints, a number needed", line));
  return *number;
}

}  // namespace nnapi_convert
