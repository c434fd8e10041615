// SPDX-License-Identifier: BSD-3-Clause
// Says whether and how well a model converts: converts it and reports the result, without writing a file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/convert.h"
#include "lib/converter/report/explain_speed.h"
#include "lib/converter/report/open_cost.h"
#include "lib/converter/report/target_loss.h"
#include "lib/litert/delegates.h"

namespace nnapi_convert {

constexpr int kCheckVersion = 2;

struct CheckRequest {
  ConvertOptions options;
  bool measure_loss = false;  // compares the target with the highest feature level
  bool explain_speed = false;
  std::optional<bool> litert = {};  // checks whether LiteRT can run it, too; true: with uint8 tensors
};

// Says whether LiteRT runs the model, and with which operators.
struct LitertCheck {
  std::string error;  // why it doesn't; empty if it does
  std::vector<Refusal> refusals;
  litert::OperatorCounts operators, not_on_gpu;
};

struct CheckResult {
  std::string model;        // its path
  std::string method = {};  // of check_methods()
  std::string name = {};    // of a model of a package
  bool converts = false;
  std::string error;  // why the model doesn't convert; else empty
  int target_level = 0;
  Conversion conversion;  // set only if the model converts
  Diagnostics diagnostics;
  std::optional<TargetLoss> loss;
  std::optional<SpeedReport> speed;
  std::optional<OpenCost> open = {};       // of a model with open sizes
  std::optional<LitertCheck> litert = {};  // where it was asked for
};

// Checks each of these methods of the model at `path` by itself. Throws as check_model().
std::vector<CheckResult> check_methods(const std::string& path, const std::vector<std::string>& methods,
                                       const CheckRequest& request);
// Returns the form of schemas/check.schema.json for these results.
nlohmann::json to_json(const std::vector<CheckResult>& methods);
// Returns the form of schemas/check.schema.json for the models of a package.
nlohmann::json package_json(const std::vector<CheckResult>& models);

// Checks the model at `path`. Throws ConvertError only for errors other than the model's: a file that can't be read,
// options that don't fit.
CheckResult check_model(const std::string& path, const CheckRequest& request);
// Checks a model that was loaded; it stays as it is. `of_loading` are the diagnostics of loading.
CheckResult check_model(const LoadedModel& loaded, const Diagnostics& of_loading, const CheckRequest& request);

std::string to_text(const CheckResult& result);
// Returns the result in the form of schemas/check.schema.json.
nlohmann::json to_json(const CheckResult& result);

}  // namespace nnapi_convert
