// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/fixed_value.h"

#include <fmt/format.h>

namespace nnapi_convert {
namespace {

std::string option_text(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return fmt::format("{}", value.toDouble());  // the shortest text that reads back the same
  return fmt::format("\"{}\"", value.toStringRef());
}

}  // namespace

FixedValue fixed_value(const std::string& path, const c10::IValue& value) {
  return {path, value, option_text(value)};
}

}  // namespace nnapi_convert
