// SPDX-License-Identifier: BSD-3-Clause
// Defines the errors that stop a run, and their exit codes.
//
// Bad input throws ConvertError. A broken invariant of our own code throws std::logic_error through NNC_ASSERT. An
// operator that a rule can't lower is no error: it is a Refusal (diagnostics.h), data that the report shows.
#pragma once

#include <stdexcept>
#include <string>

namespace nnapi_convert {

// Process exit codes, documented in --help.
enum class ExitCode : int {
  kDone = 0,
  kNotConvertible = 1,      // the model can't be converted
  kUsage = 2,               // wrong command line
  kBadFile = 3,             // unreadable or malformed input, or an output that can't be written
  kVerificationFailed = 4,  // the result differs from the original
  kInternal = 70,           // a fault of this program or of LibTorch
  kLimit = 75,              // memory, stack or time was not enough
};

// Stops the run. `what()` is one message, lower case and without a full stop: the value found, the value needed, and
// the user's next step.
class ConvertError : public std::runtime_error {
 public:
  ConvertError(ExitCode exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
  ExitCode exit_code() const { return exit_code_; }

 private:
  ExitCode exit_code_;
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line, const std::string& detail);

}  // namespace nnapi_convert

#define NNC_ASSERT(condition, detail)                                              \
  do {                                                                             \
    if (!(condition)) {                                                            \
      ::nnapi_convert::assertion_failed(#condition, __FILE__, __LINE__, (detail)); \
    }                                                                              \
  } while (false)
