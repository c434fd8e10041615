// Says what of a converted model would run slowly: findings by rules (docs/check.md lists them), whether NNAPI would
// probably be slower than the CPU, and which interface of a quantised model fits the target.
//
// The judgement counts multiply-adds and the elements that are handed over, as partitioning does; nothing is timed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
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
  size_t segments = 0, operations = 0, float_operations = 0, on_cpu = 0;
  std::optional<double> mac_share;  // nothing where not all multiply-adds are known

  // NNAPI runs all of it.
  bool is_whole() const { return converts && segments == 1 && on_cpu == 0; }
  // The same, and in whole numbers.
  bool fits() const { return is_whole() && float_operations == 0; }
};

struct SpeedReport {
  bool is_explained = false;  // false for a model that doesn't convert: it has the other interfaces only
  bool is_judged = false;     // false for one that doesn't convert, and where NNAPI's multiply-adds aren't known
  std::vector<LocatedFinding> findings;
  std::vector<std::string> slower;  // why NNAPI would probably be slower than the CPU; empty: it would not
  std::vector<QuantFit> quant;      // of a quantised model
  int64_t all_macs = 0;             // multiply-adds of the model, as far as they are known
  bool counts_all = true;           // all are known
};

SpeedReport explain_speed(const Conversion& conversion, const ConvertOptions& options);
// Plans a model with each interface that quantised ones may have; a float model converts with none.
std::vector<QuantFit> quant_fits(const LoadedModel& loaded, const ConvertOptions& options);

std::string to_text(const SpeedReport& report);
nlohmann::json to_json(const SpeedReport& report);

}  // namespace nnapi_convert
