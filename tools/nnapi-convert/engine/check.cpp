// SPDX-License-Identifier: BSD-3-Clause
// `check`: tells whether and how well a model would convert.
#include "lib/converter/report/check.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/json_text.h"
#include "lib/converter/emit/package_boundaries.h"
#include "lib/converter/load/custom_operators.h"
#include "tools/nnapi-convert/engine/functions.h"
#include "tools/nnapi-convert/engine/package.h"

namespace nnapi_convert {

namespace {

// Returns whether the model converts to all files that the command line asks about.
bool is_fit(const CheckResult& result) {
  return result.converts && (!result.litert || result.litert->error.empty());
}

bool do_all_convert(const std::vector<CheckResult>& results) {
  return std::all_of(results.begin(), results.end(), is_fit);
}

int print(const std::vector<CheckResult>& results, const std::string& form, const nlohmann::json& report) {
  if (form == "json") {
    std::cout << json_text(report, 2) + "\n";
  } else {
    for (const CheckResult& result : results) std::cout << to_text(result);
  }
  return static_cast<int>(do_all_convert(results) ? ExitCode::kDone : ExitCode::kNotConvertible);
}

int print_methods(const CheckArguments& arguments, const CheckRequest& request) {
  const std::vector<CheckResult> results =
      check_methods(arguments.conversion.model, arguments.conversion.methods, request);
  return print(results, arguments.format, to_json(results));
}

void refuse(CheckResult& result, const std::string& reason) {
  result.converts = false;
  result.error = reason;
}

// Checks one model of a package. As there are no data here, a model that data are to quantise is checked as the float
// model before.
CheckResult check_member(const PackageRequest& member, const LoadedModel& model, const Diagnostics& of_loading,
                         CheckRequest request) {
  request.options = options_of(member, model, request.options);
  CheckResult result = check_model(model, of_loading, request);
  if (result.converts) {
    const std::string refusal = quantisation_refusal(member, result.conversion);
    if (!refusal.empty()) refuse(result, refusal);
  } else if (member.is_quantised()) {
    request.options.quant = QuantMode::kAuto;
    CheckResult as_float = check_model(model, of_loading, request);
    const bool is_quantised = as_float.converts && as_float.conversion.quant != QuantMode::kNone;
    if (!is_quantised) result = std::move(as_float);
  }
  result.name = member.name;
  result.error = in_package_words(result.error);
  use_package_words(result.diagnostics);
  return result;
}

// Checks each model of a package by itself, and whether they fit together.
int print_package(const CheckArguments& arguments, const CheckRequest& request) {
  Diagnostics of_loading;
  const LoadedModel model = load_model(arguments.conversion.model, of_loading);
  std::vector<CheckResult> results;
  for (const PackageRequest& each : arguments.conversion.package) {
    results.push_back(check_member(each, model, of_loading, request));
  }
  if (do_all_convert(results)) {
    std::vector<const Conversion*> conversions;
    for (const CheckResult& result : results) conversions.push_back(&result.conversion);
    if (const auto refusal = package_refusal(conversions)) refuse(results[refusal->number], refusal->reason);
  }
  return print(results, arguments.format, package_json(results));
}

}  // namespace

int check_and_print(const CheckArguments& arguments) {
  const ConvertArguments& conversion = arguments.conversion;
  for (const std::string& path : conversion.torch_libraries) load_torch_library(path);
  CheckRequest request;
  request.options = conversion.options;
  request.measure_loss = conversion.has_target;
  request.explain_speed = arguments.explain_speed;
  if (arguments.litert) request.litert = conversion.litert_uint8;
  if (!conversion.methods.empty()) return print_methods(arguments, request);
  if (!conversion.package.empty()) return print_package(arguments, request);
  const CheckResult result = check_model(conversion.model, request);
  std::cout << (arguments.format == "json" ? json_text(to_json(result), 2) + "\n" : to_text(result));
  return static_cast<int>(is_fit(result) ? ExitCode::kDone : ExitCode::kNotConvertible);
}

}  // namespace nnapi_convert
