// `check`: whether and how well a model would convert.
#include "lib/converter/report/check.h"

#include <iostream>

#include "lib/base/error.h"
#include "lib/converter/load/custom_operators.h"
#include "tools/nnapi-convert/engine/functions.h"

namespace nnapi_convert {

int check_and_print(const CheckArguments& arguments) {
  const ConvertArguments& conversion = arguments.conversion;
  for (const std::string& path : conversion.torch_libraries) load_torch_library(path);
  CheckRequest request;
  request.options = conversion.options;
  request.measure_loss = conversion.has_target;
  request.explain_speed = arguments.explain_speed;
  const CheckResult result = check_model(conversion.model, request);
  std::cout << (arguments.format == "json" ? to_json(result).dump(2) + "\n" : to_text(result));
  return static_cast<int>(result.converts ? ExitCode::kDone : ExitCode::kNotConvertible);
}

}  // namespace nnapi_convert
