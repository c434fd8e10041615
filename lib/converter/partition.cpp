#include "lib/converter/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/base/error.h"
#include "lib/converter/partition_items.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;

// Steps of both kinds take turns: those of NNAPI have even numbers, those of the CPU odd ones.
bool is_nnapi_step(int number) {
  return number % 2 == 0;
}

class Partitioner {
 public:
  Partitioner(NormalisedModel& model, const InferredTypes& inferred, const ConvertOptions& options,
              Diagnostics& diagnostics)
      : inferred_(inferred),
        options_(options),
        diagnostics_(diagnostics),
        items_(partition_items(model, inferred, options)) {}

  Plan run() {
    plan_.any_lowered =
        std::any_of(items_.begin(), items_.end(), [](const PartitionItem& item) { return !item.reason; });
    do {
      place();
    } while (drop_small() || drop_surplus() || !lower_segments());
    return make_plan();
  }

 private:
  // Items of one step that run together: those of NNAPI have the same rows, or none.
  using StepKey = std::pair<int, std::optional<OpenSize>>;
  using Members = std::map<StepKey, std::vector<size_t>>;

  static bool is_nnapi_step(const StepKey& key) { return nnapi_convert::is_nnapi_step(key.first); }

  // Each item as early as what it needs allows.
  void place() {
    members_.clear();
    std::vector<int> steps(items_.size());
    for (size_t i = 0; i < items_.size(); ++i) {
      const bool is_nnapi = !items_[i].reason;
      int step = is_nnapi ? 0 : -1;
      std::vector<size_t> needs = items_[i].needs;
      if (!is_nnapi) needs.insert(needs.end(), items_[i].number_needs.begin(), items_[i].number_needs.end());
      for (const size_t need : needs) step = std::max(step, steps[need] + distance(items_[need], items_[i]));
      steps[i] = step;
      members_[{step, is_nnapi ? items_[i].rows : std::nullopt}].push_back(i);
    }
  }

  // How many steps the second comes after the first, which it needs.
  static int distance(const PartitionItem& first, const PartitionItem& second) {
    const bool is_nnapi = !second.reason;
    if (is_nnapi == first.reason.has_value()) return 1;
    return is_nnapi && first.rows != second.rows ? 2 : 0;
  }

  std::vector<Node*> nodes_of(const std::vector<size_t>& members) const {
    std::vector<Node*> nodes;
    for (const size_t member : members)
      nodes.insert(nodes.end(), items_[member].nodes.begin(), items_[member].nodes.end());
    return nodes;
  }

  int64_t macs_of(const std::vector<size_t>& members) const {
    int64_t sum = 0;
    for (const size_t member : members) sum += items_[member].macs;
    return sum;
  }

  bool is_pinned(const std::vector<size_t>& members) const {
    return std::any_of(members.begin(), members.end(), [&](size_t member) { return items_[member].is_pinned; });
  }

  int64_t elements(const torch::jit::Value* value) const {
    const auto* type = std::get_if<TensorType>(&inferred_.types.at(value));
    int64_t count = 1;
    for (const Dim& dim : type->dims) count *= estimated(dim, inferred_.runtime_sizes);
    return count;
  }

  // Multiply-adds that NNAPI takes over, less one for each element that is handed over or back.
  int64_t worth(const std::vector<size_t>& members) const {
    const Segment segment = extract_segment(nodes_of(members), inferred_.types, rows_of_call(members));
    int64_t worth = macs_of(members);
    for (const torch::jit::Value* input : segment.inputs) worth -= elements(input);
    for (const torch::jit::Value* output : segment.outputs) worth -= elements(output);
    return worth;
  }

  std::optional<RuntimeSize> expected_rows(const std::vector<size_t>& members) const {
    const std::optional<OpenSize>& rows = items_[members[0]].rows;
    return rows ? std::optional(expected(*rows, inferred_.runtime_sizes)) : std::nullopt;
  }

  // How many rows one call takes: all that are expected, unless those left over would be many.
  std::optional<SegmentRows> rows_of_call(const std::vector<size_t>& members) const {
    const auto rows = expected_rows(members);
    if (!rows) return std::nullopt;
    const OpenSize& size = *items_[members[0]].rows;
    if (options_.segments.rows_per_call > 0) return SegmentRows{size, options_.segments.rows_per_call};
    const int64_t count = std::max<int64_t>(1, rows->estimate);
    const int64_t cost = std::max<int64_t>(1, macs_of(members) / count);
    const int64_t most = std::clamp<int64_t>(SegmentLimits::kMacsPerCall / cost, 1, count);
    const int64_t calls = (count + most - 1) / most;
    return SegmentRows{size, (count + calls - 1) / calls};
  }

  void keep_on_cpu(const std::vector<size_t>& members, const std::string& why) {
    for (const size_t member : members) {
      PartitionItem& item = items_[member];
      if (item.is_pinned) throw ConvertError(ExitCode::kNotConvertible, why);
      item.reason = Refusal{source_of(*item.nodes[0]), item.nodes[0]->kind().toQualString(), why, "", ""};
    }
  }

  // Segments by what they are worth, the least first.
  std::vector<std::pair<int64_t, const std::vector<size_t>*>> droppable() const {
    std::vector<std::pair<int64_t, const std::vector<size_t>*>> segments;
    for (const auto& [step, members] : members_) {
      if (is_nnapi_step(step) && !is_pinned(members)) segments.emplace_back(worth(members), &members);
    }
    std::sort(segments.begin(), segments.end());
    return segments;
  }

  // True if a segment went to the CPU: others may then become one.
  bool drop_small() {
    const int64_t least = options_.segments.min_macs;
    if (least == 0) return false;
    const auto segments = droppable();
    if (segments.empty() || segments[0].first >= least) return false;
    keep_on_cpu(*segments[0].second,
                fmt::format("too little for a call of NNAPI: a segment worth less than {} multiply-adds "
                            "(--min-segment-macs)",
                            least));
    return true;
  }

  bool drop_surplus() {
    const auto limit = static_cast<size_t>(options_.segments.max_segments);
    if (limit == 0) return false;
    const auto segments = droppable();
    if (segments.size() <= limit) return false;
    keep_on_cpu(*segments[0].second, fmt::format("one of the smaller segments: {} found, {} wanted (--max-segments)",
                                                 segments.size(), limit));
    return true;
  }

  // Those that made what the device refuses, as source lines tell; all where they don't.
  std::vector<size_t> refused_members(const std::vector<size_t>& members, const RefusedByDevice& error) const {
    std::set<std::string> sources;
    for (const nnapi::DeviceRefusal& refusal : error.refusals()) sources.insert(refusal.source);
    std::vector<size_t> result;
    for (const size_t member : members) {
      const bool is_refused = sources.count(source_of(*items_[member].nodes[0])) != 0;
      if (is_refused && !items_[member].is_pinned) result.push_back(member);
    }
    return result.empty() ? members : result;
  }

  // False if one can't be lowered as a whole and went to the CPU.
  bool lower_segments() {
    plan_.segments.clear();
    Diagnostics diagnostics;
    for (const auto& [step, members] : members_) {
      if (!is_nnapi_step(step)) continue;
      try {
        PlannedSegment planned{extract_segment(nodes_of(members), inferred_.types, rows_of_call(members)),
                               {},
                               macs_of(members),
                               expected_rows(members)};
        planned.part = lower_segment(planned.segment, options_, diagnostics);
        check_part(planned.part, options_);
        plan_.segments.push_back(std::move(planned));
      } catch (const RefusedByDevice& error) {
        keep_on_cpu(refused_members(members, error), fmt::format("in a segment, {}", error.reasons()));
        return false;
      } catch (const ConvertError& error) {
        keep_on_cpu(members, fmt::format("each operation can be lowered, the segment can't: {}", error.what()));
        return false;
      }
    }
    diagnostics_.warnings.insert(diagnostics_.warnings.end(), diagnostics.warnings.begin(), diagnostics.warnings.end());
    return true;
  }

  Plan make_plan() {
    int segment = 0;
    for (const auto& [step, members] : members_) {
      plan_.steps.push_back({nodes_of(members), is_nnapi_step(step) ? segment++ : -1});
    }
    for (const PartitionItem& item : items_) {
      if (!item.reason) continue;
      plan_.cpu_nodes.push_back({*item.reason,
                                 item.has_unknown_macs ? std::nullopt : std::optional<int64_t>(item.macs),
                                 {item.nodes.begin(), item.nodes.end()},
                                 item.is_estimated});
    }
    return std::move(plan_);
  }

  const InferredTypes& inferred_;
  const ConvertOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<PartitionItem> items_;
  Members members_;
  Plan plan_;
};

}  // namespace

std::string to_text(const Plan& plan) {
  std::string text;
  for (const PlanStep& step : plan.steps) {
    text += step.segment < 0 ? "CPU\n" : fmt::format("segment {}\n", step.segment);
    for (const Node* node : step.nodes) {
      text += "  ";
      for (const torch::jit::Value* output : node->outputs()) text += fmt::format("%{} ", output->debugName());
      text += fmt::format("= {}", node->kind().toQualString());
      for (const torch::jit::Value* input : node->inputs()) text += fmt::format(" %{}", input->debugName());
      text += "\n";
    }
  }
  for (const CpuNode& node : plan.cpu_nodes) text += "on the CPU: " + node.reason.message() + "\n";
  return text;
}

Plan partition(NormalisedModel& model, const InferredTypes& inferred, const ConvertOptions& options,
               Diagnostics& diagnostics) {
  ConvertOptions quiet = options;  // no dump of each node that is tried
  quiet.on_dump = nullptr;
  return Partitioner(model, inferred, quiet, diagnostics).run();
}

}  // namespace nnapi_convert
