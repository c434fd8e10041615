// SPDX-License-Identifier: BSD-3-Clause
// Measures what a model loses because its target has a lower feature level or a device with limits: plans the model for
// that target and for the highest feature level, and compares the two plans.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/convert.h"
#include "lib/converter/report/mac_share.h"

namespace nnapi_convert {

// The result of converting a model for one target.
struct Coverage {
  bool converts = false;
  size_t operations = 0;        // number of NNAPI operations
  size_t segments = 0;          // 1 if NNAPI runs the whole model
  bool is_whole = false;        // NNAPI runs the whole model
  MacShare macs;                // set for a partitioned model
  std::vector<Refusal> on_cpu;  // the nodes on the CPU; for a model that doesn't convert, the refused nodes
  std::string error;            // why the model doesn't convert; else empty

  // Returns NNAPI's share of the multiply-adds; nothing if some are unknown.
  std::optional<double> mac_share() const { return is_whole ? std::optional<double>(1) : macs.share(); }
};

Coverage coverage_of(const Conversion& conversion);

struct LostNode {
  Refusal reason;
  int feature_level;  // the lowest feature level that takes the node on a device without limits
};

struct TargetLoss {
  int feature_level = 0;
  std::string device;  // empty: none
  Coverage found, highest;
  std::vector<LostNode> nodes;  // nodes that the target refuses and the highest feature level takes

  bool is_lossless() const;
  // True if NNAPI runs less of the model for the target, or runs it in more segments.
  bool costs_parts() const;
};

// Plans the model for the target and for the highest level; if nodes are lost, also for each level between them.
TargetLoss measure_loss(Frontend& frontend, const ConvertOptions& options);

// Returns a text for the terminal: one line, and one line for each kind of lost node.
std::string to_text(const TargetLoss& loss);
nlohmann::json to_json(const TargetLoss& loss);

}  // namespace nnapi_convert
