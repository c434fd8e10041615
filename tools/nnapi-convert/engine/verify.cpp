// `verify`: original and result on the same inputs.
#include "lib/converter/verify/verify.h"

#include <iostream>

#include "lib/base/error.h"
#include "lib/base/json_text.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/report/report.h"
#include "lib/converter/verify/operation_check.h"
#include "tools/nnapi-convert/engine/functions.h"

namespace nnapi_convert {
namespace {

int check_each_operation(const VerifyRequest& request, bool is_json) {
  const OperationCheck check = check_operations(request);
  std::cout << (is_json ? to_json(check).dump(2) + "\n" : to_text(check));
  return static_cast<int>(check.first_drift() == nullptr ? ExitCode::kDone : ExitCode::kVerificationFailed);
}

}  // namespace

int verify_and_print(const VerifyArguments& arguments) {
  const bool is_json = arguments.format == "json";
  for (const std::string& path : arguments.torch_libraries) load_torch_library(path);
  if (arguments.per_op) return check_each_operation(arguments.request, is_json);
  const Verification verification = verify(arguments.request);
  std::cout << (is_json ? json_text(to_json(verification), 2) + "\n" : to_text(verification));
  return static_cast<int>(verification.passed ? ExitCode::kDone : ExitCode::kVerificationFailed);
}

}  // namespace nnapi_convert
