// Says whether and how well a model converts, without writing anything: it is converted, and what came of it is shown.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lib/converter/convert.h"
#include "lib/converter/report/explain_speed.h"
#include "lib/converter/report/target_loss.h"

namespace nnapi_convert {

constexpr int kCheckVersion = 2;

struct CheckRequest {
  ConvertOptions options;
  bool measure_loss = false;  // against the highest feature level
  bool explain_speed = false;
};

struct CheckResult {
  std::string model;  // its path
  bool converts = false;
  std::string error;  // why not
  int target_level = 0;
  Conversion conversion;  // of a model that converts
  Diagnostics diagnostics;
  std::optional<TargetLoss> loss;
  std::optional<SpeedReport> speed;
};

// Throws ConvertError for what has nothing to do with the model: a file that can't be read, options that don't fit.
CheckResult check_model(const std::string& path, const CheckRequest& request);

std::string to_text(const CheckResult& result);
// By schemas/check.schema.json.
nlohmann::json to_json(const CheckResult& result);

}  // namespace nnapi_convert
