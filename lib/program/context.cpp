// SPDX-License-Identifier: BSD-3-Clause
// Reports the failures of operators.
#include <cstdarg>
#include <cstdio>

#include "lib/program/operators.h"

namespace nnapi_shim::program {

bool Context::fail(const char* format, ...) {
  if (failure[0] != '\0') return false;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(failure, sizeof failure, format, arguments);
  va_end(arguments);
  if (failure[0] == '\0') std::snprintf(failure, sizeof failure, "failed without a reason");
  return false;
}

bool Context::fail_memory() {
  return fail("memory is short, or the sizes are too large");
}

const char* kind_name(const Value& value) {
  switch (value.tag()) {
    case Tag::kNone:
      return "None";
    case Tag::kBool:
      return "a bool";
    case Tag::kInt:
      return "an int";
    case Tag::kFloat:
      return "a float";
    case Tag::kDevice:
      return "a device";
    case Tag::kString:
      return "a str";
    case Tag::kTensor:
      return "a tensor";
    case Tag::kList:
      return "a list";
    case Tag::kTuple:
      return "a tuple";
    case Tag::kDict:
      return "a dict";
    case Tag::kObject:
      return "an object";
  }
  return "nothing";
}

}  // namespace nnapi_shim::program
