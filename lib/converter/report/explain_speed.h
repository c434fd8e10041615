// SPDX-License-Identifier: BSD-3-Clause
// Explains the speed of a converted model: lists slow parts by the rules in docs/check.md, says whether NNAPI would
// probably be slower than the CPU, and which interface of a quantised model fits the target.
//
// The judgement counts multiply-adds and the elements of segments' inputs and outputs, as partition() does. It measures
// no time.
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
  int segment = -1;  // number of the finding's segment; -1: none, or NNAPI runs the model whole
};

// The result of converting a quantised model with one interface.
struct QuantFit {
  QuantMode mode = QuantMode::kNone;
  bool converts = false;
  std::string error;
  size_t segments = 0, operations = 0, float_operations = 0, on_cpu = 0;
  std::optional<double> mac_share;  // nothing if some multiply-adds are unknown

  // True if NNAPI runs the whole model.
  bool is_whole() const { return converts && segments == 1 && on_cpu == 0; }
  // True if NNAPI runs the whole model with integer operations only.
  bool fits() const { return is_whole() && float_operations == 0; }
};

struct SpeedReport {
  bool is_explained = false;  // false for a model that doesn't convert: only `quant` is set
  bool is_judged = false;     // false if the model doesn't convert or NNAPI's multiply-adds are unknown
  std::vector<LocatedFinding> findings;
  std::vector<std::string> slower;  // why NNAPI would probably be slower than the CPU; empty: it would not
  std::vector<QuantFit> quant;      // for a quantised model: its interfaces
  int64_t all_macs = 0;             // known multiply-adds of the model
  bool counts_all = true;           // true if all multiply-adds are known
};

SpeedReport explain_speed(const Conversion& conversion, const ConvertOptions& options);
// Warns of a model that NNAPI runs whole and that is worth less than a segment has to be, as partition() warns of a
// segment. Says nothing where the multiply-adds aren't known.
void warn_of_small_model(const Conversion& conversion, const SegmentLimits& limits, Diagnostics& diagnostics);
// Plans a model with each interface that a quantised model may have; a float model converts with none of them.
std::vector<QuantFit> quant_fits(const LoadedModel& loaded, const ConvertOptions& options);

std::string to_text(const SpeedReport& report);
nlohmann::json to_json(const SpeedReport& report);

}  // namespace nnapi_convert
