// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "lib/base/error.h"
#include "lib/converter/frontend/cpu_reason.h"
#include "lib/converter/graph/glue.h"
#include "lib/converter/graph/memory_reads.h"
#include "lib/converter/plan/block_items.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;

class Partitioner {
 public:
  Partitioner(const NormalisedModel& model, const InferredTypes& inferred, const PlanOptions& options,
              const Float32Values& float32, const NodesKeptForOrder& kept, Diagnostics& diagnostics)
      : inferred_(inferred), options_(options), float32_(float32), diagnostics_(diagnostics) {
    add_block(model.graph->block(), partition_graph(model, inferred, options, kept));
  }

  Plan run() {
    plan_.any_lowered = std::any_of(blocks_.begin(), blocks_.end(), [](const BlockItems& block) {
      return std::any_of(block.items().begin(), block.items().end(),
                         [](const PartitionItem& item) { return !item.reason; });
    });
    // This ends: each round but the last one moves an item from NNAPI to the CPU, and no item moves back.
    do {
      for (BlockItems& block : blocks_) block.place();
    } while (drop_small() || drop_surplus() || !lower_segments());
    warn_of_small_segment();
    return make_plan();
  }

 private:
  struct SegmentStep {
    bool is_pinned;
    int64_t worth;
    BlockItems* block;
    const StepMembers* members;
  };

  void add_block(torch::jit::Block* block, const PartitionGraph& graph) {
    blocks_.emplace_back(block, partition_items(*block, graph));
    blocks_.back().keep_float32(float32_);
    for (Node* node : block->nodes()) {
      for (torch::jit::Block* inner : node->blocks()) add_block(inner, graph);
    }
  }

  int64_t elements(const torch::jit::Value* value) const {
    const auto* type = std::get_if<TensorType>(&inferred_.types.at(value));
    Count count = 1;
    for (const Dim& dim : type->dims) count *= estimated(dim, inferred_.runtime_sizes);
    return count.value_or_most();
  }

  Segment extract(const BlockItems& block, const StepMembers& members) const {
    return extract_segment(block.nodes_of(members), inferred_.types, rows_of_call(block, members));
  }

  // Returns the worth of a segment: its multiply-adds, less one for each element of its inputs and outputs.
  int64_t worth(const BlockItems& block, const StepMembers& members) const {
    Count handed_over = 0;
    try {
      const Segment segment = extract(block, members);
      const size_t count = segment.inputs.size() - segment.size_inputs;
      for (size_t i = 0; i < count; ++i) handed_over += elements(segment.inputs[i]);
      for (const torch::jit::Value* output : segment.outputs) handed_over += elements(output);
    } catch (const RefusedNode&) {
      // lower_segments() takes the node out; then the segment is weighed again.
    }
    return block.macs_of(members) - handed_over.value_or_most();
  }

  std::optional<RuntimeSize> expected_rows(const BlockItems& block, const StepMembers& members) const {
    const std::optional<OpenSize>& rows = block.rows_of(members);
    return rows ? std::optional(expected(*rows, inferred_.runtime_sizes)) : std::nullopt;
  }

  // Returns how many rows one call takes: the option's number, or all expected rows, divided evenly into calls of at
  // most kMacsPerCall multiply-adds.
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

  // Returns the segments by their worth, the least first; segments that the CPU can't run come last.
  std::vector<SegmentStep> segments() {
    std::vector<SegmentStep> segments;
    for (BlockItems& block : blocks_) {
      for (const auto& [step, members] : block.steps()) {
        if (!is_nnapi_step(step)) continue;
        segments.push_back({block.is_pinned(members), worth(block, members), &block, &members});
      }
    }
    std::stable_sort(segments.begin(), segments.end(), [](const SegmentStep& a, const SegmentStep& b) {
      return std::pair(a.is_pinned, a.worth) < std::pair(b.is_pinned, b.worth);
    });
    return segments;
  }

  int64_t least_worth() const { return options_.segments.min_macs.value_or(SegmentLimits::kMinMacs); }

  bool is_small(const SegmentStep& segment) const {
    const int64_t least = least_worth();
    return least != 0 && !segment.is_pinned && segment.worth < least;
  }

  static bool makes_tensors(const PartitionItem& item) {
    return std::any_of(item.nodes.begin(), item.nodes.end(), [](const Node* node) {
      const auto outputs = node->outputs();
      return node->blocks().empty() && std::any_of(outputs.begin(), outputs.end(), [](const torch::jit::Value* output) {
               return holds_tensors(output->type());
             });
    });
  }

  // True if the CPU has no multiply-adds and, in a model without any, makes no tensors.
  bool all_work_is_on_nnapi() const {
    bool any_multiplies = false, any_is_made_on_cpu = false;
    for (const BlockItems& block : blocks_) {
      for (const PartitionItem& item : block.items()) {
        const bool may_multiply = item.multiplies() || !item.macs.is_known();
        if (item.reason && may_multiply) return false;
        any_multiplies = any_multiplies || may_multiply;
        any_is_made_on_cpu = any_is_made_on_cpu || (item.reason && makes_tensors(item));
      }
    }
    return any_multiplies || !any_is_made_on_cpu;
  }

  // Returns the segment to drop of a small model, in which no segment is worth a call; null if all of them stay: people
  // convert such models to try things. Segments without multiply-adds are dropped first. The last segment that
  // multiplies stays, and so do all of them if the CPU has no multiply-adds.
  const SegmentStep* least_of_small_model(const std::vector<SegmentStep>& segments) const {
    const auto multiplies = [](const SegmentStep& segment) { return segment.block->products_of(*segment.members) > 0; };
    const bool all_on_nnapi = all_work_is_on_nnapi();
    const auto idle = std::find_if_not(segments.begin(), segments.end(), multiplies);
    if (all_on_nnapi && std::none_of(segments.begin(), segments.end(), multiplies)) return nullptr;
    if (idle != segments.end()) return &*idle;
    return all_on_nnapi || segments.size() == 1 ? nullptr : &segments[0];
  }

  const SegmentStep* least(const std::vector<SegmentStep>& segments) const {
    if (segments.empty() || !is_small(segments[0])) return nullptr;
    const bool is_small_model = !options_.segments.min_macs && is_small(segments.back());
    return is_small_model ? least_of_small_model(segments) : &segments[0];
  }

  // Moves the smallest segment to the CPU if it is worth too little. True if it moved: other segments may then join.
  bool drop_small() {
    const auto found = segments();
    const SegmentStep* dropped = least(found);
    if (dropped == nullptr) return false;
    dropped->block->keep_on_cpu(
        *dropped->members,
        fmt::format("too little for a call of NNAPI: a segment worth less than {} multiply-adds (--min-segment-macs)",
                    least_worth()));
    return true;
  }

  bool drop_surplus() {
    const auto limit = static_cast<size_t>(options_.segments.max_segments);
    if (limit == 0) return false;
    const auto found = segments();
    if (found.size() <= limit || found[0].is_pinned) return false;
    found[0].block->keep_on_cpu(
        *found[0].members,
        fmt::format("one of the smaller segments: {} found, {} wanted (--max-segments)", found.size(), limit));
    return true;
  }

  void warn_of_small_segment() {
    const auto found = segments();
    if (found.empty() || !is_small(found[0])) return;
    diagnostics_.warn(fmt::format(
        "NNAPI is probably slower here than the CPU: {1}, but saves less than "
        "{0} multiply-adds, less one for each element handed over; --min-segment-macs {0} refuses the model",
        least_worth(), found.size() == 1 ? "the largest segment goes to NNAPI" : "each segment goes to NNAPI"));
  }

  // Lowers all segments. False if one could not be lowered as a whole and went to the CPU.
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

  // True if the CPU or the caller reads the value, or one of what the container holds, and may see its order in memory.
  bool shows_memory_order(const torch::jit::Value& value) const {
    const auto& uses = value.uses();
    return std::any_of(uses.begin(), uses.end(), [&](const torch::jit::Use& use) {
      const Node& user = *use.user;
      if (is_glue(user) || takes_out(user)) {
        const auto outputs = user.outputs();
        return std::any_of(outputs.begin(), outputs.end(),
                           [&](const torch::jit::Value* output) { return shows_memory_order(*output); });
      }
      return on_nnapi_.count(&user) == 0 && !forgets_memory_order(user);
    });
  }

  // Offers the items to NNAPI as one segment. Returns nothing if NNAPI takes it: the segment is then in the plan.
  std::optional<SegmentRefusal> offer(const BlockItems& block, const StepMembers& members, Diagnostics& diagnostics) {
    try {
      PlannedSegment planned;
      planned.segment = extract(block, members);
      planned.macs = block.macs_of(members);
      planned.expected_rows = expected_rows(block, members);
      planned.products = block.products_of(members);
      planned.uncounted = block.uncounted_of(members);
      planned.places = places_of(*block.block());
      Offer offer = lower_segment(planned.segment, options_, diagnostics);
      if (!offer.refusal) offer.refusal = refusal_of(offer.part, options_);
      if (offer.refusal) return offer.refusal;
      planned.part = std::move(offer.part);
      planned.part.model_sizes = planned.segment.model_sizes;
      planned.part.keeps_float32 = block.keeps_float32(members);
      const std::vector<torch::jit::Value*>& outputs = planned.segment.outputs;
      for (size_t i = 0; i < outputs.size(); ++i) {
        planned.part.interface.outputs[i].is_contiguous = shows_memory_order(*outputs[i]);
      }
      plan_.segments.push_back(std::move(planned));
      return std::nullopt;
    } catch (const RefusedNode& error) {
      SegmentRefusal refusal{error.what()};
      refusal.node = &error.node();
      return refusal;
    } catch (const ConvertError& error) {
      if (error.exit_code() != ExitCode::kNotConvertible) throw;
      return SegmentRefusal{error.what()};
    }
  }

  std::string reason_against(const SegmentRefusal& refusal, bool refuses_all) const {
    if (refusal.is_empty) return "gives what it reads, or constants: nothing is left for NNAPI to run";
    const bool is_whole = refuses_all && refusal.device.empty();
    return fmt::format("{} {}", is_whole ? "each operation can be lowered, the segment can't:" : "in a segment,",
                       reason_of(refusal, options_));
  }

  static StepMembers refused_members(const BlockItems& block, const StepMembers& members,
                                     const SegmentRefusal& refusal) {
    if (refusal.node != nullptr) return block.members_with(members, *refusal.node);
    if (!refusal.device.empty()) return block.refused_members(members, refusal.device);
    return refusal.refused_sources.empty() ? members : block.refused_members(members, refusal.refused_sources);
  }

  // Lowers the items as one segment. False if all of them, or the items whose operations are refused, went to the CPU.
  bool lower(BlockItems& block, const StepMembers& members, Diagnostics& diagnostics) {
    const auto refusal = offer(block, members, diagnostics);
    if (!refusal) return true;
    const StepMembers refused = refused_members(block, members, *refusal);
    block.keep_on_cpu(refused, reason_against(*refusal, refused.size() == members.size()));
    return false;
  }

  static bool is_in_loop(const BlockItems& block) {
    const std::vector<BlockPlace> places = places_of(*block.block());
    return std::any_of(places.begin(), places.end(),
                       [](const BlockPlace& place) { return place.kind == BlockPlace::Kind::kLoop; });
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
                                   item.macs.value(),
                                   {item.nodes.begin(), item.nodes.end()},
                                   item.is_estimated,
                                   item.since,
                                   item.cost,
                                   is_in_loop(block)});
      }
    }
    return std::move(plan_);
  }

  const InferredTypes& inferred_;
  const PlanOptions& options_;
  const Float32Values& float32_;
  Diagnostics& diagnostics_;
  std::vector<BlockItems> blocks_;  // the graph's own block first, outer blocks before inner ones
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

std::vector<const PlanStep*> segment_steps(const Plan& plan) {
  std::vector<const PlanStep*> found;
  const auto add = [&](const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
      if (step.segment >= 0) found.push_back(&step);
    }
  };
  add(plan.steps);
  for (const auto& block : plan.blocks) add(block.second);
  return found;
}

std::string to_text(const Plan& plan) {
  std::string text = PlanText(plan).steps(plan.steps, "");
  for (const CpuNode& node : plan.cpu_nodes) text += "on the CPU: " + node.reason.message() + "\n";
  return text;
}

Plan partition(const NormalisedModel& model, const InferredTypes& inferred, const PlanOptions& options,
               const Float32Values& float32, const NodesKeptForOrder& kept, Diagnostics& diagnostics) {
  PlanOptions quiet = options;  // without dumps of the many trial segments
  quiet.on_dump = nullptr;
  return Partitioner(model, inferred, quiet, float32, kept, diagnostics).run();
}

}  // namespace nnapi_convert
