// SPDX-License-Identifier: BSD-3-Clause
// `verify`: compares original and result on the same inputs.
#include "lib/converter/verify/verify.h"
#include "lib/converter/verify/verdict.h"

#include <fmt/format.h>

#include <iostream>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/json_text.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/report/report.h"
#include "lib/converter/verify/litert_runner.h"
#include "lib/converter/verify/operation_check.h"
#include "lib/converter/verify/result_file.h"
#include "tools/nnapi-convert/engine/functions.h"
#include "tools/nnapi-convert/engine/progress.h"

namespace nnapi_convert {
namespace {

int check_each_operation(const VerifyRequest& request, bool is_json) {
  const OperationCheck check = check_operations(request);
  std::cout << (is_json ? json_text(to_json(check), 2) + "\n" : to_text(check));
  return static_cast<int>(check.first_drift() == nullptr ? ExitCode::kDone : ExitCode::kVerificationFailed);
}

// Compares one method after the other.
int verify_methods(const VerifyArguments& arguments, const std::vector<std::string>& methods,
                   std::optional<ResultFile>& results, Progress& progress) {
  nlohmann::json report = {{"passed", true}, {"methods", nlohmann::json::array()}};
  const bool is_json = arguments.format == "json";
  for (const std::string& method : methods) {
    VerifyRequest request = request_of_method(arguments.request, method, methods);
    if (results) request.on_sample = [&](const ComparedSample& sample) { results->add(sample, method + "/"); };
    const Verification verification = verify(request);
    report["methods"].push_back(to_json(verification));
    report["methods"].back()["method"] = method;
    progress.clear();
    if (!verification.passed) report["passed"] = false;
    if (!is_json) std::cout << "method " << method << "\n" << to_text(verification);
  }
  if (results) results->commit();
  if (is_json) std::cout << json_text(report, 2) + "\n";
  return static_cast<int>(report["passed"] ? ExitCode::kDone : ExitCode::kVerificationFailed);
}

int check_methods(const VerifyArguments& arguments, const std::vector<std::string>& methods) {
  if (methods.size() > 1) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--per-op: {} has several methods; give --method with one of: {}",
                                                     arguments.request.converted, fmt::join(methods, ", ")));
  }
  return check_each_operation(request_of_method(arguments.request, methods[0], methods), arguments.format == "json");
}

}  // namespace

int verify_and_print(const VerifyArguments& given) {
  Progress progress;
  VerifyArguments arguments = given;
  arguments.request.on_progress = [&progress](size_t done, size_t all) { progress.show_part("verify", done, all); };
  const bool is_json = arguments.format == "json";
  for (const std::string& path : arguments.torch_libraries) load_torch_library(path);
  const std::string& converted = arguments.request.converted;
  const bool is_of_litert = is_litert(converted);
  if (is_of_litert && arguments.per_op) {
    throw ConvertError(ExitCode::kUsage, "--per-op: it is for NNAPI; verify the file that -o wrote");
  }
  if (arguments.per_op && !arguments.results.empty()) {
    throw ConvertError(ExitCode::kUsage, "--results: without --per-op, which compares other values");
  }
  if (arguments.per_op && arguments.request.without_torch) {
    throw ConvertError(ExitCode::kUsage,
                       "--per-op: it compares values within PyTorch's module; without --without-torch");
  }
  std::vector<std::string> methods = arguments.methods;
  if (methods.empty()) methods = is_of_litert ? litert_method_names(converted) : converted_method_names(converted);
  if (arguments.per_op) {
    return methods.empty() ? check_each_operation(arguments.request, is_json) : check_methods(arguments, methods);
  }
  std::optional<ResultFile> results;
  if (!arguments.results.empty()) {
    results.emplace(arguments.results);
    arguments.request.on_sample = [&](const ComparedSample& sample) { results->add(sample, ""); };
  }
  if (!methods.empty()) return verify_methods(arguments, methods, results, progress);
  const Verification verification = verify(arguments.request);
  progress.clear();
  if (results) results->commit();
  std::cout << (is_json ? json_text(to_json(verification), 2) + "\n" : to_text(verification));
  return static_cast<int>(verification.passed ? ExitCode::kDone : ExitCode::kVerificationFailed);
}

}  // namespace nnapi_convert
