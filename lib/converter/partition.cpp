#include "lib/converter/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/block_items.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;

class Partitioner {
 public:
  Partitioner(NormalisedModel& model, const InferredTypes& inferred, const ConvertOptions& options,
              Diagnostics& diagnostics)
      : inferred_(inferred), options_(options), diagnostics_(diagnostics) {
    add_block(model.graph->block(), partition_graph(model, inferred, options));
  }

  Plan run() {
    plan_.any_lowered = std::any_of(blocks_.begin(), blocks_.end(), [](const BlockItems& block) {
      return std::any_of(block.items().begin(), block.items().end(),
                         [](const PartitionItem& item) { return !item.reason; });
    });
    do {
      for (BlockItems& block : blocks_) block.place();
    } while (drop_small() || drop_surplus() || !lower_segments());
    return make_plan();
  }

 private:
  struct Droppable {
    int64_t worth;
    BlockItems* block;
    const StepMembers* members;
  };

  void add_block(torch::jit::Block* block, const PartitionGraph& graph) {
    blocks_.emplace_back(block, partition_items(*block, graph));
    for (Node* node : block->nodes()) {
      for (torch::jit::Block* inner : node->blocks()) add_block(inner, graph);
    }
  }

  int64_t elements(const torch::jit::Value* value) const {
    const auto* type = std::get_if<TensorType>(&inferred_.types.at(value));
    int64_t count = 1;
    for (const Dim& dim : type->dims) count *= estimated(dim, inferred_.runtime_sizes);
    return count;
  }

  Segment extract(const BlockItems& block, const StepMembers& members) const {
    return extract_segment(block.nodes_of(members), inferred_.types, rows_of_call(block, members));
  }

  // Multiply-adds that NNAPI takes over, less one for each element that is handed over or back.
  int64_t worth(const BlockItems& block, const StepMembers& members) const {
    const Segment segment = extract(block, members);
    int64_t worth = block.macs_of(members);
    for (const torch::jit::Value* input : segment.inputs) worth -= elements(input);
    for (const torch::jit::Value* output : segment.outputs) worth -= elements(output);
    return worth;
  }

  std::optional<RuntimeSize> expected_rows(const BlockItems& block, const StepMembers& members) const {
    const std::optional<OpenSize>& rows = block.rows_of(members);
    return rows ? std::optional(expected(*rows, inferred_.runtime_sizes)) : std::nullopt;
  }

  // How many rows one call takes: all that are expected, unless those left over would be many.
  std::optional<SegmentRows> rows_of_call(const BlockItems& block, const StepMembers& members) const {
    const auto rows = expected_rows(block, members);
    if (!rows) return std::nullopt;
    const OpenSize& size = *block.rows_of(members);
    if (options_.segments.rows_per_call > 0) return SegmentRows{size, options_.segments.rows_per_call};
    const int64_t count = std::max<int64_t>(1, rows->estimate);
    const int64_t cost = std::max<int64_t>(1, block.macs_of(members) / count);
    const int64_t most = std::clamp<int64_t>(SegmentLimits::kMacsPerCall / cost, 1, count);
    const int64_t calls = (count + most - 1) / most;
    return SegmentRows{size, (count + calls - 1) / calls};
  }

  // Segments by what they are worth, the least first.
  std::vector<Droppable> droppable() {
    std::vector<Droppable> segments;
    for (BlockItems& block : blocks_) {
      for (const auto& [step, members] : block.steps()) {
        const bool may_drop = is_nnapi_step(step) && !block.is_pinned(members);
        if (may_drop) segments.push_back({worth(block, members), &block, &members});
      }
    }
    std::stable_sort(segments.begin(), segments.end(),
                     [](const Droppable& a, const Droppable& b) { return a.worth < b.worth; });
    return segments;
  }

  // True if a segment went to the CPU: others may then become one.
  bool drop_small() {
    const int64_t least = options_.segments.min_macs;
    if (least == 0) return false;
    const auto segments = droppable();
    if (segments.empty() || segments[0].worth >= least) return false;
    segments[0].block->keep_on_cpu(
        *segments[0].members,
        fmt::format("too little for a call of NNAPI: a segment worth less than {} multiply-adds (--min-segment-macs)",
                    least));
    return true;
  }

  bool drop_surplus() {
    const auto limit = static_cast<size_t>(options_.segments.max_segments);
    if (limit == 0) return false;
    const auto segments = droppable();
    if (segments.size() <= limit) return false;
    segments[0].block->keep_on_cpu(
        *segments[0].members,
        fmt::format("one of the smaller segments: {} found, {} wanted (--max-segments)", segments.size(), limit));
    return true;
  }

  // False if one can't be lowered as a whole and went to the CPU.
  bool lower_segments() {
    plan_.segments.clear();
    on_nnapi_.clear();
    for (const BlockItems& block : blocks_) {
      for (const PartitionItem& item : block.items()) {
        if (!item.reason) on_nnapi_.insert(item.nodes.begin(), item.nodes.end());
      }
    }
    Diagnostics diagnostics;
    for (BlockItems& block : blocks_) {
      for (const auto& [step, members] : block.steps()) {
        if (is_nnapi_step(step) && !lower(block, members, diagnostics)) return false;
      }
    }
    diagnostics_.warnings.insert(diagnostics_.warnings.end(), diagnostics.warnings.begin(), diagnostics.warnings.end());
    return true;
  }

  // True if something else than segments reads the value, which may see its order in memory: a view, or a caller.
  bool leaves_nnapi(const torch::jit::Value& value) const {
    const auto& uses = value.uses();
    return std::any_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) {
      return is_glue(*use.user) ? leaves_nnapi(*use.user->output()) : on_nnapi_.count(use.user) == 0;
    });
  }

  bool lower(BlockItems& block, const StepMembers& members, Diagnostics& diagnostics) {
    try {
      PlannedSegment planned{extract(block, members),    {},
                             block.macs_of(members),     expected_rows(block, members),
                             block.products_of(members), places_of(*block.block())};
      planned.part = lower_segment(planned.segment, options_, diagnostics);
      check_part(planned.part, options_);
      const std::vector<torch::jit::Value*>& outputs = planned.segment.outputs;
      for (size_t i = 0; i < outputs.size(); ++i) {
        planned.part.interface.outputs[i].is_contiguous = leaves_nnapi(*outputs[i]);
      }
      plan_.segments.push_back(std::move(planned));
      return true;
    } catch (const RefusedByDevice& error) {
      block.keep_on_cpu(block.refused_members(members, error), fmt::format("in a segment, {}", error.reasons()));
    } catch (const ConvertError& error) {
      block.keep_on_cpu(members, fmt::format("each operation can be lowered, the segment can't: {}", error.what()));
    }
    return false;
  }

  Plan make_plan() {
    int segment = 0;
    for (const BlockItems& block : blocks_) {
      std::vector<PlanStep>& steps = &block == &blocks_[0] ? plan_.steps : plan_.blocks[block.block()];
      for (const auto& [step, members] : block.steps()) {
        steps.push_back({block.nodes_of(members), is_nnapi_step(step) ? segment++ : -1});
      }
      for (const PartitionItem& item : block.items()) {
        if (!item.reason) continue;
        plan_.cpu_nodes.push_back({*item.reason,
                                   item.has_unknown_macs ? std::nullopt : std::optional<int64_t>(item.macs),
                                   {item.nodes.begin(), item.nodes.end()},
                                   item.is_estimated,
                                   item.since});
      }
    }
    return std::move(plan_);
  }

  const InferredTypes& inferred_;
  const ConvertOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<BlockItems> blocks_;  // the graph's own, then those in it, each before those in it
  std::unordered_set<const Node*> on_nnapi_;
  Plan plan_;
};

class PlanText {
 public:
  explicit PlanText(const Plan& plan) : plan_(plan) {}

  std::string steps(const std::vector<PlanStep>& steps, const std::string& indent) const {
    std::string text;
    for (const PlanStep& step : steps) {
      text += indent + (step.segment < 0 ? "CPU\n" : fmt::format("segment {}\n", step.segment));
      for (const Node* node : step.nodes) text += node_text(*node, indent + "  ");
    }
    return text;
  }

 private:
  std::string node_text(const Node& node, const std::string& indent) const {
    std::string text = indent;
    for (const torch::jit::Value* output : node.outputs()) text += fmt::format("%{} ", output->debugName());
    text += fmt::format("= {}", node.kind().toQualString());
    for (const torch::jit::Value* input : node.inputs()) text += fmt::format(" %{}", input->debugName());
    text += "\n";
    for (const torch::jit::Block* block : node.blocks()) {
      text += indent + "  block\n" + steps(plan_.blocks.at(block), indent + "    ");
    }
    return text;
  }

  const Plan& plan_;
};

}  // namespace

std::string to_text(const Plan& plan) {
  std::string text = PlanText(plan).steps(plan.steps, "");
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
