// What the library says on stderr, as far as the environment variable NNAPI_HOST_LOG lets it: off, error (the default),
// info or debug.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace nnapi_convert::host {

enum class LogLevel { kOff, kError, kInfo, kDebug };

bool logs(LogLevel level);
void log_sentence(LogLevel level, const std::string& sentence);

// Formats only what is wanted.
template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(level)) log_sentence(level, fmt::format(format, std::forward<Args>(args)...));
}

// For a variable of the environment with a value that it can't have: the sentence, once for each such value.
void complain_of_variable(const char* variable, const char* value, const std::string& needed);

}  // namespace nnapi_convert::host
