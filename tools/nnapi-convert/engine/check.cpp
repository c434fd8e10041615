// `check`: whether and how well a model would convert.
#include "lib/converter/report/check.h"

#include <algorithm>
#include <iostream>

#include "lib/base/error.h"
#include "lib/converter/load/custom_operators.h"
#include "tools/nnapi-convert/engine/functions.h"
#include "tools/nnapi-convert/engine/package.h"

namespace nnapi_convert {

namespace {

int print(const std::vector<CheckResult>& results, const std::string& form, const nlohmann::json& report) {
  if (form == "json") {
    std::cout << report.dump(2) + "\n";
  } else {
    for (const CheckResult& result : results) std::cout << to_text(result);
  }
  const bool convert =
      std::all_of(results.begin(), results.end(), [](const CheckResult& result) { return result.converts; });
  return static_cast<int>(convert ? ExitCode::kDone : ExitCode::kNotConvertible);
}

int print_methods(const CheckArguments& arguments, const CheckRequest& request) {
  const std::vector<CheckResult> results =
      check_methods(arguments.conversion.model, arguments.conversion.methods, request);
  return print(results, arguments.format, to_json(results));
}

// Checks each model of a package by itself. Without data a model that is to be quantised by data is checked as float.
int print_package(const CheckArguments& arguments, const CheckRequest& request) {
  std::vector<CheckResult> results;
  for (const PackageRequest& each : arguments.conversion.package) {
    CheckRequest own = request;
    own.options = options_of(each, request.options);
    results.push_back(check_model(arguments.conversion.model, own));
    results.back().name = each.name;
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
  if (!conversion.methods.empty()) return print_methods(arguments, request);
  if (!conversion.package.empty()) return print_package(arguments, request);
  const CheckResult result = check_model(conversion.model, request);
  std::cout << (arguments.format == "json" ? to_json(result).dump(2) + "\n" : to_text(result));
  return static_cast<int>(result.converts ? ExitCode::kDone : ExitCode::kNotConvertible);
}

}  // namespace nnapi_convert
