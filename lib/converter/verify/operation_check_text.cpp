// SPDX-License-Identifier: BSD-3-Clause
// Shows a check of operations as text.
#include <fmt/format.h>

#include <cmath>

#include "lib/base/counted.h"
#include "lib/converter/verify/operation_check.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

std::string joined(const CheckedValue& value) {
  return fmt::format("{}", fmt::join(value.operations, "+"));
}

json finite(double number) {
  return std::isfinite(number) ? json(number) : json(nullptr);
}

std::string drift_text(const CheckedValue& value) {
  return fmt::format(
      "first to drift: segment {}, operation {} ({}){}: its own error is {:.3g} ({}), at most {:g} needed\n",
      value.segment, value.operation, joined(value), value.where.empty() ? "" : " from " + value.where, value.own_error,
      value.unit, value.tolerance);
}

}  // namespace

const CheckedValue* OperationCheck::first_drift() const {
  for (const CheckedValue& value : values) {
    if (value.drifts()) return &value;
  }
  return nullptr;
}

std::string to_text(const OperationCheck& check) {
  std::string text = fmt::format("{:<7} {:<9} {:>10} {:>10} {:<8} {:<28} {}\n", "segment", "operation", "own error",
                                 "error", "unit", "operations", "value, source line");
  for (const CheckedValue& value : check.values) {
    text += fmt::format(
        "{:<7} {:<9} {:>10.3g} {:>10.3g} {:<8} {:<28} %{}{}{}\n", value.segment, value.operation, value.own_error,
        value.error, value.unit, joined(value), value.value,
        (value.where.empty() ? "" : " " + value.where) + (value.inside.empty() ? "" : ", " + to_text(value.inside)),
        value.drifts() ? "  <- drifts" : "");
  }
  for (const std::string& operation : check.unchecked) text += "not compared: " + operation + "\n";
  const CheckedValue* first = check.first_drift();
  text += first == nullptr ? "no operation drifts by itself\n" : drift_text(*first);
  return text +
         fmt::format("{} compared, {}\n", counted(check.values.size(), "value"), counted(check.samples, "sample"));
}

json to_json(const OperationCheck& check) {
  json values = json::array();
  for (const CheckedValue& value : check.values) {
    values.push_back({{"segment", value.segment},
                      {"operation", value.operation},
                      {"operations", value.operations},
                      {"where", value.where},
                      {"value", value.value},
                      {"unit", value.unit},
                      {"own_error", finite(value.own_error)},
                      {"error", finite(value.error)},
                      {"tolerance", value.tolerance},
                      {"lowest", finite(value.lowest)},
                      {"highest", finite(value.highest)},
                      {"runs", value.runs},
                      {"drifts", value.drifts()}});
    if (!value.inside.empty()) values.back()["inside"] = to_json(value.inside);
  }
  const CheckedValue* first = check.first_drift();
  return {{"samples", check.samples},
          {"values", values},
          {"unchecked", check.unchecked},
          {"first_drift", first == nullptr ? json(nullptr) : json(first - check.values.data())}};
}

}  // namespace nnapi_convert
