// Says what of a converted model would run slowly: findings by rules (docs/check.md lists them), whether NNAPI would
// probably be slower than the CPU, and which interface of a quantised model fits the target.
//
// The judgement counts multiply-adds and the elements that are handed over, as partitioning does; nothing is timed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/converter/convert.h"
#include "lib/nnapi/speed_rules.h"

namespace nnapi_convert {

struct LocatedFinding {
  nnapi::SpeedFinding finding;
  int segment = -1;  // that it is in; -1: none, or NNAPI runs the model whole
};

// How a quantised model converts with one interface.
struct QuantFit {
  QuantMode mode = QuantMode::kNone;
  bool converts = false;
  std::string error;
  size_t segments = 0, operations = 0, float_operations = 0;
  double mac_share = 0;

  // NNAPI runs all of it, and in whole numbers.
  bool fits() const { return converts && segments == 1 && mac_share == 1 && float_operations == 0; }
};

struct SpeedReport {
  bool is_judged = false;  // false for a model that doesn't convert
  std::vector<LocatedFinding> findings;
  std::vector<std::string> slower;  // why NNAPI would probably be slower than the CPU; empty: it would not
  std::vector<QuantFit> quant;      // of a quantised model
  int64_t all_macs = 0;             // multiply-adds of the model, as far as they are known
};

SpeedReport explain_speed(const Conversion& conversion, const ConvertOptions& options);
// Plans a model with each interface that quantised ones may have; a float model converts with none.
std::vector<QuantFit> quant_fits(const LoadedModel& loaded, const ConvertOptions& options);

std::string to_text(const SpeedReport& report);
nlohmann::json to_json(const SpeedReport& report);

}  // namespace nnapi_convert
