#include "lib/converter/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lib/base/error.h"
#include "lib/converter/partition_items.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;

// Steps of both kinds take turns: those of NNAPI have even numbers, those of the CPU odd ones.
bool is_nnapi_step(int number) {
  return number % 2 == 0;
}

using Members = std::map<int, std::vector<size_t>>;  // items by number of their step

// The graph's own nodes, or those of a branch or loop.
struct BlockItems {
  torch::jit::Block* block;
  std::vector<PartitionItem> items;
  Members members = {};

  // Each item as early as what it needs allows.
  void place() {
    members.clear();
    std::vector<int> steps(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      const bool is_nnapi = !items[i].reason;
      int step = is_nnapi ? 0 : -1;
      for (const size_t need : items[i].needs) {
        step = std::max(step, steps[need] + (is_nnapi_step(steps[need]) == is_nnapi ? 0 : 1));
      }
      steps[i] = step;
      members[step].push_back(i);
    }
  }

  std::vector<Node*> nodes_of(const std::vector<size_t>& step) const {
    std::vector<Node*> nodes;
    for (const size_t member : step) nodes.insert(nodes.end(), items[member].nodes.begin(), items[member].nodes.end());
    return nodes;
  }

  int64_t macs_of(const std::vector<size_t>& step) const {
    int64_t sum = 0;
    for (const size_t member : step) sum += items[member].macs;
    return sum;
  }

  bool is_pinned(const std::vector<size_t>& step) const {
    return std::any_of(step.begin(), step.end(), [&](size_t member) { return items[member].is_pinned; });
  }

  void keep_on_cpu(const std::vector<size_t>& step, const std::string& why) {
    for (const size_t member : step) {
      PartitionItem& item = items[member];
      if (item.is_pinned) throw ConvertError(ExitCode::kNotConvertible, why);
      item.reason = Refusal{source_of(*item.nodes[0]), item.nodes[0]->kind().toQualString(), why, "", ""};
    }
  }
};

class Partitioner {
 public:
  Partitioner(NormalisedModel& model, const TypeMap& types, const ConvertOptions& options, Diagnostics& diagnostics)
      : types_(types), options_(options), diagnostics_(diagnostics) {
    add_block(model.graph->block(), partition_graph(model, types, options));
  }

  Plan run() {
    plan_.any_lowered = std::any_of(blocks_.begin(), blocks_.end(), [](const BlockItems& block) {
      return std::any_of(block.items.begin(), block.items.end(),
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
    const std::vector<size_t>* members;
  };

  void add_block(torch::jit::Block* block, const PartitionGraph& graph) {
    blocks_.push_back({block, partition_items(*block, graph)});
    for (Node* node : block->nodes()) {
      for (torch::jit::Block* inner : node->blocks()) add_block(inner, graph);
    }
  }

  int64_t elements(const torch::jit::Value* value) const {
    const auto* type = std::get_if<TensorType>(&types_.at(value));
    int64_t count = 1;
    for (const Dim& dim : type->dims) count *= dim.value();
    return count;
  }

  // Multiply-adds that NNAPI takes over, less one for each element that is handed over or back.
  int64_t worth(const BlockItems& block, const std::vector<size_t>& members) const {
    const Segment segment = extract_segment(block.nodes_of(members), types_);
    int64_t worth = block.macs_of(members);
    for (const torch::jit::Value* input : segment.inputs) worth -= elements(input);
    for (const torch::jit::Value* output : segment.outputs) worth -= elements(output);
    return worth;
  }

  // Segments by what they are worth, the least first.
  std::vector<Droppable> droppable() {
    std::vector<Droppable> segments;
    for (BlockItems& block : blocks_) {
      for (const auto& [step, members] : block.members) {
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
        *segments[0].members, fmt::format("too little for a call of NNAPI: a segment worth less than {} multiply-adds "
                                          "(--min-segment-macs)",
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
    Diagnostics diagnostics;
    for (BlockItems& block : blocks_) {
      for (const auto& [step, members] : block.members) {
        if (is_nnapi_step(step) && !lower(block, members, diagnostics)) return false;
      }
    }
    diagnostics_.warnings.insert(diagnostics_.warnings.end(), diagnostics.warnings.begin(), diagnostics.warnings.end());
    return true;
  }

  bool lower(BlockItems& block, const std::vector<size_t>& members, Diagnostics& diagnostics) {
    try {
      PlannedSegment planned{extract_segment(block.nodes_of(members), types_), {}, block.macs_of(members)};
      planned.part = lower_segment(planned.segment, options_, diagnostics);
      check_part(planned.part, options_.feature_level);
      plan_.segments.push_back(std::move(planned));
    } catch (const ConvertError& error) {
      block.keep_on_cpu(members, fmt::format("each operation can be lowered, the segment can't: {}", error.what()));
      return false;
    }
    return true;
  }

  Plan make_plan() {
    int segment = 0;
    for (const BlockItems& block : blocks_) {
      std::vector<PlanStep>& steps = &block == &blocks_[0] ? plan_.steps : plan_.blocks[block.block];
      for (const auto& [step, members] : block.members) {
        steps.push_back({block.nodes_of(members), is_nnapi_step(step) ? segment++ : -1});
      }
      for (const PartitionItem& item : block.items) {
        if (!item.reason) continue;
        plan_.cpu_nodes.push_back(
            {*item.reason, item.has_unknown_macs ? std::nullopt : std::optional<int64_t>(item.macs)});
      }
    }
    return std::move(plan_);
  }

  const TypeMap& types_;
  const ConvertOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<BlockItems> blocks_;  // the graph's own, then those in it, each before those in it
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

Plan partition(NormalisedModel& model, const TypeMap& types, const ConvertOptions& options, Diagnostics& diagnostics) {
  ConvertOptions quiet = options;  // no dump of each node that is tried
  quiet.on_dump = nullptr;
  return Partitioner(model, types, quiet, diagnostics).run();
}

}  // namespace nnapi_convert
