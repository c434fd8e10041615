// What a model loses because it is kept to a feature level or to what a device takes: it is planned for that target and
// for the highest level, and both are counted.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/convert.h"
#include "lib/converter/report/mac_share.h"

namespace nnapi_convert {

// How a model converts for one target.
struct Coverage {
  bool converts = false;
  size_t operations = 0;        // of NNAPI
  size_t segments = 0;          // 1 where NNAPI runs all of it
  bool is_whole = false;        // NNAPI runs all of it
  MacShare macs;                // of one in segments
  std::vector<Refusal> on_cpu;  // or, for a model that doesn't convert, what is refused
  std::string error;            // of a model that doesn't convert

  // NNAPI's part of the multiply-adds; nothing where some aren't known.
  std::optional<double> mac_share() const { return is_whole ? std::optional<double>(1) : macs.share(); }
};

Coverage coverage_of(const Conversion& conversion);

struct LostNode {
  Refusal reason;
  int feature_level;  // the lowest that takes it on a device without limits
};

struct TargetLoss {
  int feature_level = 0;
  std::string device;  // empty: none
  Coverage found, highest;
  std::vector<LostNode> nodes;  // refused here, taken at the highest level

  bool is_lossless() const;
  // True if NNAPI takes less of the model, or takes it in more parts.
  bool costs_parts() const;
};

// Plans the model two times, and once for each level in between where nodes are lost.
TargetLoss measure_loss(const LoadedModel& loaded, const ConvertOptions& options);

// For people: one line, and one for each kind of lost node.
std::string to_text(const TargetLoss& loss);
nlohmann::json to_json(const TargetLoss& loss);

}  // namespace nnapi_convert
