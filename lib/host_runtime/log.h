// SPDX-License-Identifier: BSD-3-Clause
// Logs sentences on stderr. The environment variable NNAPI_HOST_LOG sets the level: off, error (the default), info or
// debug.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace nnapi_convert::host {

enum class LogLevel { kOff, kError, kInfo, kDebug };

bool logs(LogLevel level);
void log_sentence(LogLevel level, const std::string& sentence);

// Formats the sentence only if the level is logged.
template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(level)) log_sentence(level, fmt::format(format, std::forward<Args>(args)...));
}

// Logs that an environment variable has an invalid value, once for each such value.
void complain_of_variable(const char* variable, const char* value, const std::string& needed);

}  // namespace nnapi_convert::host
