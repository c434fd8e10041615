// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "lib/base/error.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/cpu_reason.h"
#include "lib/converter/plan/deciding_inputs.h"
#include "lib/converter/plan/interface.h"
#include "lib/converter/plan/refused_model.h"
#include "lib/converter/plan/sample_macs.h"
#include "lib/converter/plan/wide_integers.h"
#include "lib/ops/plain_calls.h"
#include "lib/ops/registry.h"
#include "lib/ops/saturation.h"

namespace nnapi_convert {
namespace {

RefusedGraph graph_of_refused(PlannedModel& planned) {
  RefusedGraph refused{std::move(planned.graph), {}};
  for (const CpuNode& node : planned.plan.cpu_nodes) refused.reasons.push_back(node.reason);
  return refused;
}

[[noreturn]] void refuse(PlannedModel& planned, const std::string& why) {
  throw RefusedModel(planned.plan.refusal->reason + "\nparts of it can't go to NNAPI either: " + why,
                     graph_of_refused(planned));
}

// True if the node makes a tensor and has a source line; a node that reads a size makes none.
bool is_placed_tensor(const CpuNode& node) {
  const auto outputs = node.nodes.empty() ? at::ArrayRef<const torch::jit::Value*>() : node.nodes.front()->outputs();
  return !node.reason.where.empty() && std::any_of(outputs.begin(), outputs.end(), [](const torch::jit::Value* output) {
    return holds_tensors(output->type());
  });
}

// Returns the reasons of the operations that make tensors, a line for each: those with multiply-adds first.
std::string reasons_of(const Plan& plan) {
  constexpr size_t kMost = 10;
  std::vector<const CpuNode*> nodes;
  for (const CpuNode& node : plan.cpu_nodes) {
    if (is_placed_tensor(node)) nodes.push_back(&node);
  }
  std::stable_partition(nodes.begin(), nodes.end(),
                        [](const CpuNode* node) { return node->cost == CostKind::kProduct; });
  std::string text;
  for (size_t i = 0; i < std::min(nodes.size(), kMost); ++i) text += "\n  " + nodes[i]->reason.message();
  return nodes.size() > kMost ? text + fmt::format("\n  and {} more", nodes.size() - kMost) : text;
}

// True if the refusal of the whole model names nodes, and each convolution or product among those that stay on the CPU.
bool names_products(const SegmentRefusal& refusal, const Plan& plan) {
  if (!refusal.device.empty()) return true;
  return !refusal.nodes.empty() && std::all_of(plan.cpu_nodes.begin(), plan.cpu_nodes.end(), [&](const CpuNode& node) {
    const auto is_named = [&](const Refusal& each) {
      return each.where == node.reason.where && each.op == node.reason.op;
    };
    return node.cost != CostKind::kProduct || std::any_of(refusal.nodes.begin(), refusal.nodes.end(), is_named);
  });
}

// Throws an error that says why the plan has no segment.
[[noreturn]] void refuse_all(PlannedModel& planned, const SegmentLimits& limits) {
  const Plan& plan = planned.plan;
  const SegmentRefusal& refusal = *plan.refusal;
  if (!plan.any_lowered || limits.min_macs == 0) {
    if (plan.cpu_nodes.empty()) {
      throw RefusedModel(
          "nothing is left for NNAPI to run: forward returns its inputs' elements or constants, unchanged",
          graph_of_refused(planned));
    }
    const std::string reasons = names_products(refusal, plan) ? "" : reasons_of(plan);
    std::string message = refusal.reason;
    if (!reasons.empty()) message += "\nno part of it can go to NNAPI" + reasons;
    throw RefusedModel(message, graph_of_refused(planned));
  }
  refuse(planned, "no segment is worth a call; --min-segment-macs 0 takes any");
}

bool has_unknown_macs(const Plan& plan) {
  return std::any_of(plan.cpu_nodes.begin(), plan.cpu_nodes.end(),
                     [](const CpuNode& node) { return !node.macs && node.cost == CostKind::kProduct; });
}

ModuleInterface interface_of(const TypedModel& graph) {
  const NormalisedModel& model = graph.model;
  const std::vector<TensorType> inputs = graph_inputs(graph);
  ModuleInterface interface { {}, {}, model.return_tree };
  for (size_t i = 0; i < inputs.size(); ++i) {
    interface.inputs.push_back({model.input_names[i], inputs[i], std::nullopt, !model.inputs[i]->uses().empty(),
                                graph.original_inputs[i], graph.input_sources[i]});
  }
  interface.changed_inputs = model.changed_inputs;
  interface.conditions = graph.conditions;
  const std::vector<TensorType> types = output_types(model, graph.inferred.types);
  for (size_t i = 0; i < types.size(); ++i) {
    InterfaceOutput output;
    output.quantization = quantization_of_result(*model.outputs[i], graph.inferred.types);
    output.dtype = types[i].dtype;
    output.original_dtype = graph.original_outputs.at(i).dtype;
    interface.outputs.push_back(std::move(output));
  }
  return interface;
}

void warn_of_deciding_inputs(const NormalisedModel& model, const TypeMap& types, Diagnostics& diagnostics) {
  for (const std::string& name : deciding_inputs(model, types)) {
    diagnostics.warn(
        fmt::format("sizes or branches depend on the values of input {}; if each call brings the same "
                    "values, bind them with --input '{}=[VALUE,...]': NNAPI may run more of the model",
                    name, name));
  }
}

std::vector<const torch::jit::Node*> nnapi_nodes(const Plan& plan) {
  std::vector<const torch::jit::Node*> nodes;
  for (const PlanStep* step : segment_steps(plan)) nodes.insert(nodes.end(), step->nodes.begin(), step->nodes.end());
  return nodes;
}

bool tests_infinite(const torch::jit::Node& node) {
  static const std::set<std::string> kinds = {"aten::isfinite", "aten::isinf", "aten::isneginf", "aten::isposinf",
                                              "aten::nan_to_num"};
  return kinds.count(node.kind().toQualString()) != 0;
}

// Warns where the CPU tests numbers that NNAPI's arithmetic made: it finds none of them infinite.
void warn_of_saturated(const Plan& plan, const TypeMap& types, Diagnostics& diagnostics) {
  const std::vector<const torch::jit::Node*> nodes = nnapi_nodes(plan);
  const std::set<const torch::jit::Node*> on_nnapi(nodes.begin(), nodes.end());
  for (const CpuNode& cpu : plan.cpu_nodes) {
    for (const torch::jit::Node* node : cpu.nodes) {
      if (!tests_infinite(*node) || on_nnapi.count(node->input(0)->node()) == 0) continue;
      if (!may_be_saturated(*node->input(0), types)) continue;
      diagnostics.warn(
          {"sees no infinite numbers in NNAPI's results: on Android, NNAPI's arithmetic gives the largest "
           "float32 for an infinite number",
           source_of(*node), node->kind().toQualString(), "", 0});
    }
  }
}

// Returns the refusal of an operator that ATen of 1.13.1 runs without an error, and with wrong numbers: of a mask that
// is neither bool nor uint8 it reads the first bytes.
std::optional<Refusal> refusal_of_misread(const torch::jit::Node& node, const TypeMap& types) {
  if (!find_traits(node).has(Fact::kReadsMaskBytes)) return std::nullopt;
  const TensorType* mask = tensor_type_of(argument(const_cast<torch::jit::Node*>(&node), "mask"), types);
  if (mask == nullptr || mask->dtype == at::kBool || mask->dtype == at::kByte) return std::nullopt;
  return Refusal{source_of(node), node.kind().toQualString(),
                 "a mask " + to_text(*mask) + ", of which PyTorch on the CPU reads the bytes as bools", "a bool mask",
                 "compare it with 0"};
}

void refuse_misread(PlannedModel& planned, const TypeMap& types) {
  for (const CpuNode& cpu : planned.plan.cpu_nodes) {
    for (const torch::jit::Node* node : cpu.nodes) {
      const std::optional<Refusal> refusal = refusal_of_misread(*node, types);
      if (refusal) throw RefusedModel(refusal->message(), graph_of_refused(planned));
    }
  }
}

PlannedModel split(Frontend& frontend, const PlanOptions& options, const SegmentRefusal& refusal,
                   const Float32Values& float32, bool recognises, const Composites& kept, Diagnostics& diagnostics) {
  const std::shared_ptr<DividedModel> divided = frontend.divided(recognises, kept, diagnostics);
  const TypedModel& typed = divided->typed;
  if (typed.boundaries->mode != QuantMode::kNone && options.quant == QuantMode::kNone) {
    throw ConvertError(ExitCode::kNotConvertible, refusal.reason);
  }
  const NormalisedModel& model = typed.model;
  PlannedModel planned;
  planned.plan = partition(model, typed.inferred, options, float32, divided->kept_for_order, diagnostics);
  planned.plan.refusal = refusal;
  warn_of_wide_integers(nnapi_nodes(planned.plan), model, typed.inferred.types, diagnostics);
  warn_of_deciding_inputs(model, typed.inferred.types, diagnostics);
  warn_of_saturated(planned.plan, typed.inferred.types, diagnostics);
  if (!divided->samples.empty() && has_unknown_macs(planned.plan)) {
    count_macs_in_samples(frontend.reference(kept), divided->samples, planned.plan);
  }
  planned.interface = interface_of(typed);
  planned.graph = graph_of({model, planned.plan, typed.inferred.types});
  planned.quant = typed.boundaries->mode;
  planned.kept = kept;
  planned.model = model;
  refuse_misread(planned, typed.inferred.types);
  return planned;
}

// True for operators that recognise() puts into the graph; PyTorch can't run them.
bool is_own_operator(const torch::jit::Node* node) {
  return node->kind().ns().toUnqualString() == std::string("nnapi_convert");
}

bool has_own_operators(const Plan& plan) {
  return std::any_of(plan.cpu_nodes.begin(), plan.cpu_nodes.end(), [](const CpuNode& cpu) {
    return std::any_of(cpu.nodes.begin(), cpu.nodes.end(), is_own_operator);
  });
}

// Returns the composites of several nodes that the CPU runs all of.
Composites composites_on_cpu(const Plan& plan) {
  std::map<std::string, size_t> counts;
  for (const CpuNode& cpu : plan.cpu_nodes) {
    for (const torch::jit::Node* node : cpu.nodes) ++counts[composite_of(*node)];
  }
  counts.erase("");
  for (const torch::jit::Node* node : nnapi_nodes(plan)) counts.erase(composite_of(*node));
  Composites found;
  for (const auto& [composite, count] : counts) {
    if (count > 1) found.insert(composite);
  }
  return found;
}

int64_t macs_on_nnapi(const Plan& plan) {
  Count macs = 0;
  for (const PlannedSegment& segment : plan.segments) macs += segment.macs;
  return macs.value_or_most();
}

// True if NNAPI runs as much by `plan` as by `other`, in no more calls.
bool loses_nothing(const Plan& plan, const Plan& other) {
  return macs_on_nnapi(plan) >= macs_on_nnapi(other) && nnapi_nodes(plan).size() >= nnapi_nodes(other).size() &&
         plan.segments.size() <= other.segments.size();
}

}  // namespace

PlannedModel split(Frontend& frontend, const PlanOptions& options, const SegmentRefusal& refusal,
                   Diagnostics& diagnostics, Stages& stages, const Float32Values& float32) {
  stages.begin("partition");
  const Diagnostics before = diagnostics;
  const auto split_with = [&](bool recognises, const Composites& kept) {
    diagnostics = before;
    return split(frontend, options, refusal, float32, recognises, kept, diagnostics);
  };
  PlannedModel planned = split_with(true, {});
  const bool recognises = !has_own_operators(planned.plan);
  if (!recognises) planned = split_with(false, {});
  const Composites on_cpu = composites_on_cpu(planned.plan);
  if (!on_cpu.empty() && !planned.plan.segments.empty()) {
    const Diagnostics of_parts = diagnostics;
    PlannedModel with_composites = split_with(recognises, on_cpu);
    if (loses_nothing(with_composites.plan, planned.plan)) {
      planned = std::move(with_composites);
    } else {
      diagnostics = of_parts;
    }
  }
  stages.end([&] { return to_text(planned.plan); });
  if (planned.plan.segments.empty()) refuse_all(planned, options.segments);
  return planned;
}

}  // namespace nnapi_convert
