// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/log.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>

namespace nnapi_convert::host {
namespace {

constexpr const char* kNames[] = {"off", "error", "info", "debug"};

LogLevel wanted_level() {
  const char* text = std::getenv("NNAPI_HOST_LOG");
  if (!text || !*text) return LogLevel::kError;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (std::strcmp(text, kNames[i]) == 0) return static_cast<LogLevel>(i);
  }
  complain_of_variable("NNAPI_HOST_LOG", text, "off, error, info or debug needed; error is taken");
  return LogLevel::kError;
}

void print(const std::string& sentence) {
  std::fprintf(stderr, "neuralnetworks: %s\n", sentence.c_str());
}

}  // namespace

bool logs(LogLevel level) {
  return level <= wanted_level();
}

void log_sentence(LogLevel level, const std::string& sentence) {
  if (logs(level)) print(sentence);
}

void complain_of_variable(const char* variable, const char* value, const std::string& needed) {
  const char* level = std::getenv("NNAPI_HOST_LOG");
  if (level && std::strcmp(level, "off") == 0) return;
  static std::mutex mutex;
  static std::set<std::string> known;
  const std::string sentence = fmt::format("{}: '{}' found, {}", variable, value, needed);
  const std::lock_guard<std::mutex> lock(mutex);
  if (known.insert(sentence).second) print(sentence);
}

}  // namespace nnapi_convert::host
