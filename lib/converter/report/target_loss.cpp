// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/target_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/percent.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/api_level.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

int highest_level() {
  int level = 0;
  for (const FeatureLevelInfo& info : all_feature_levels()) level = std::max(level, info.level);
  return level;
}

// The source line and the operator of nodes, by which they are counted.
using NodeKey = std::pair<std::string, std::string>;
using NodeCounts = std::map<NodeKey, size_t>;

NodeKey key_of(const Refusal& refusal) {
  return {refusal.where, refusal.op};
}

NodeCounts counts_of(const Coverage& coverage) {
  NodeCounts counts;
  for (const Refusal& refusal : coverage.on_cpu) ++counts[key_of(refusal)];
  return counts;
}

Coverage coverage_for(Frontend& frontend, const ConvertOptions& options) {
  Diagnostics diagnostics;
  try {
    return coverage_of(plan_conversion(frontend, options, diagnostics));
  } catch (const ConvertError& error) {
    if (error.exit_code() != ExitCode::kNotConvertible) throw;
    Coverage coverage;
    coverage.error = error.what();
    coverage.on_cpu = diagnostics.refusals;
    return coverage;
  }
}

ConvertOptions at_level(const ConvertOptions& options, int level) {
  ConvertOptions result = options;
  result.feature_level = level;
  result.device = nullptr;
  result.on_stage = nullptr;
  result.on_dump = nullptr;
  return result;
}

// Returns the nodes that the target refuses and the highest level takes. Where that level refuses fewer nodes of one
// line and operator, the rest of them are lost.
std::vector<LostNode> lost_nodes(Frontend& frontend, const ConvertOptions& options, const TargetLoss& loss) {
  const int highest = highest_level();
  std::vector<LostNode> lost;
  if (!loss.highest.converts) return lost;
  NodeCounts still_refused = counts_of(loss.highest);
  for (const Refusal& refusal : loss.found.on_cpu) {
    size_t& count = still_refused[key_of(refusal)];
    if (count == 0) {
      lost.push_back({refusal, highest});
    } else {
      --count;
    }
  }
  if (lost.empty()) return lost;
  for (int level = highest - 1; level >= loss.feature_level + (loss.device.empty() ? 1 : 0); --level) {
    const Coverage coverage = coverage_for(frontend, at_level(options, level));
    if (!coverage.converts) break;
    const NodeCounts refused = counts_of(coverage);
    for (LostNode& node : lost) {
      if (node.feature_level == level + 1 && refused.count(key_of(node.reason)) == 0) node.feature_level = level;
    }
  }
  return lost;
}

std::string difference(size_t found, size_t highest, const char* one, const char* several) {
  if (found == highest) return "";
  return fmt::format("{} {} instead of {}", found, found == 1 ? one : several, highest);
}

// Returns NNAPI's share of the counted multiply-adds in percent.
std::string share_text(const Coverage& coverage) {
  return coverage.is_whole ? "100.0" : percent_text(coverage.macs.nnapi, coverage.macs.all);
}

json to_json(const Coverage& coverage) {
  json result = {{"converts", coverage.converts},
                 {"operation_count", coverage.operations},
                 {"segments", coverage.segments},
                 {"mac_share", share_json(coverage.mac_share())},
                 {"on_cpu", coverage.on_cpu.size()}};
  if (!coverage.converts) result["error"] = coverage.error;
  return result;
}

}  // namespace

Coverage coverage_of(const Conversion& conversion) {
  Coverage coverage;
  coverage.converts = true;
  const auto count = [&](const nnapi::Model& model) {
    for (const nnapi::Model* each : nnapi::with_subgraphs(model)) coverage.operations += each->operations.size();
  };
  for (const SegmentSummary& segment : conversion.segments) count(segment.model);
  coverage.segments = conversion.segments.size();
  coverage.is_whole = coverage.segments == 1 && conversion.cpu_nodes.empty();
  if (conversion.is_whole) return coverage;
  for (const CpuNode& node : conversion.cpu_nodes) coverage.on_cpu.push_back(node.reason);
  coverage.macs = mac_share(conversion);
  return coverage;
}

bool TargetLoss::is_lossless() const {
  return found.converts == highest.converts && nodes.empty() && found.segments == highest.segments &&
         found.operations == highest.operations && found.on_cpu.size() == highest.on_cpu.size();
}

bool TargetLoss::costs_parts() const {
  return found.converts != highest.converts || !nodes.empty() || found.segments > highest.segments ||
         found.on_cpu.size() > highest.on_cpu.size();
}

TargetLoss measure_loss(Frontend& frontend, const ConvertOptions& options) {
  TargetLoss loss;
  loss.feature_level = options.target_level();
  if (options.device) loss.device = options.device->name();
  ConvertOptions quiet = options;
  quiet.on_stage = nullptr;
  quiet.on_dump = nullptr;
  loss.found = coverage_for(frontend, quiet);
  loss.highest = coverage_for(frontend, at_level(options, highest_level()));
  loss.nodes = lost_nodes(frontend, options, loss);
  return loss;
}

std::string to_text(const TargetLoss& loss) {
  std::string target = fmt::format("feature level {}", loss.feature_level);
  if (!loss.device.empty()) target += fmt::format(" on device {}", loss.device);
  const std::string highest = fmt::format("feature level {}", highest_level());
  if (loss.is_lossless()) return fmt::format("{}: nothing is lost against {}", target, highest);
  if (!loss.found.converts) {
    return loss.highest.converts ? fmt::format("{}: not convertible; at {} it is, with {}", target, highest,
                                               counted(loss.highest.operations, "operation"))
                                 : fmt::format("{}: not convertible, nor at {}", target, highest);
  }
  std::vector<std::string> parts = {
      difference(loss.found.operations, loss.highest.operations, "operation", "operations"),
      difference(loss.found.segments, loss.highest.segments, "segment", "segments")};
  const std::string share = share_text(loss.found), highest_share = share_text(loss.highest);
  if (share != highest_share) {
    const bool counts_all = loss.found.mac_share() && loss.highest.mac_share();
    parts.push_back(fmt::format("{} % of the multiply-adds{} on NNAPI instead of {} %", share,
                                counts_all ? "" : " that can be counted", highest_share));
  }
  parts.push_back(
      difference(loss.found.on_cpu.size(), loss.highest.on_cpu.size(), "node on the CPU", "nodes on the CPU"));
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  std::string text = fmt::format("{}, against {}: {}", target, highest, fmt::join(parts, ", "));
  std::set<std::string> lines;
  for (const LostNode& node : loss.nodes) {
    lines.insert(fmt::format("\n  {}{} goes to NNAPI at feature level {}{}; here: {}",
                             node.reason.where.empty() ? "" : node.reason.where + ": ", node.reason.op,
                             node.feature_level, node.feature_level <= loss.feature_level ? " on other devices" : "",
                             node.reason.found));
  }
  for (const std::string& line : lines) text += line;
  return text;
}

json to_json(const TargetLoss& loss) {
  const auto api = api_of_level(loss.feature_level);
  json lost = json::array();
  for (const LostNode& node : loss.nodes) {
    lost.push_back({{"where", node.reason.where},
                    {"op", node.reason.op},
                    {"found", node.reason.found},
                    {"needed", node.reason.needed},
                    {"hint", node.reason.hint},
                    {"feature_level", node.feature_level}});
  }
  json highest = to_json(loss.highest);
  highest["feature_level"] = highest_level();
  return {{"feature_level", loss.feature_level},
          {"min_api", api ? json(*api) : json(nullptr)},
          {"device", loss.device.empty() ? json(nullptr) : json(loss.device)},
          {"found", to_json(loss.found)},
          {"highest", std::move(highest)},
          {"lost", std::move(lost)}};
}

}  // namespace nnapi_convert
