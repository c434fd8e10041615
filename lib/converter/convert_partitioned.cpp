#include "lib/converter/convert_partitioned.h"

#include <fmt/format.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/argument_samples.h"
#include "lib/converter/host_module.h"
#include "lib/converter/infer.h"
#include "lib/converter/input_types.h"
#include "lib/converter/interface.h"
#include "lib/converter/normalise.h"
#include "lib/converter/original_run.h"
#include "lib/converter/partition.h"
#include "lib/converter/quant_parts.h"
#include "lib/converter/recognise.h"
#include "lib/converter/recorded_options.h"
#include "lib/converter/release_weights.h"
#include "lib/converter/sample_inputs.h"
#include "lib/converter/sample_macs.h"
#include "lib/converter/sample_rows.h"
#include "lib/converter/stages.h"
#include "lib/converter/state.h"
#include "lib/converter/wide_integers.h"
#include "lib/nnapi/cost.h"
#include "lib/nnapi/dump.h"

namespace nnapi_convert {
namespace {

// What is not handed over runs as it is.
InferOptions for_cpu() {
  InferOptions options;
  options.keeps_numbers = true;
  return options;
}

[[noreturn]] void refuse(const std::string& refusal, const std::string& why) {
  throw ConvertError(ExitCode::kNotConvertible, refusal + "\nparts of it can't go to NNAPI either: " + why);
}

bool any_flexible(const std::vector<TensorType>& types) {
  return std::any_of(types.begin(), types.end(), [](const TensorType& type) { return !all_fixed(type.dims); });
}

// Says what is missing for a segment.
[[noreturn]] void refuse_all(const std::vector<TensorType>& types, const Plan& plan, const std::string& refusal,
                             const SegmentLimits& limits) {
  if (any_flexible(types)) {
    const auto placed = std::find_if(plan.cpu_nodes.begin(), plan.cpu_nodes.end(),
                                     [](const CpuNode& node) { return !node.reason.where.empty(); });
    const std::string where = placed == plan.cpu_nodes.end() ? "" : fmt::format(" (at {})", placed->reason.where);
    refuse(refusal, fmt::format("NNAPI needs the flexible sizes of the inputs fixed: the model mixes elements along "
                                "them{}; give every size with --input",
                                where));
  }
  if (!plan.any_lowered || limits.min_macs == 0) throw ConvertError(ExitCode::kNotConvertible, refusal);
  refuse(refusal, "no segment is worth a call; --min-segment-macs 0 takes any");
}

bool takes_tensors_only(const ForwardArguments& arguments) {
  return std::all_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.tree.is_tensor() && !argument.tree.is_given; });
}

BundledInputs bundled(const NormalisedModel& model, const ModuleInterface& interface, const LoadedModel& loaded,
                      const ConvertOptions& options, Diagnostics& diagnostics) {
  if (takes_tensors_only(model.arguments)) {
    return bundled_samples(interface, loaded.bundled_inputs, options.bundle_inputs, diagnostics);
  }
  return bundled_arguments(model.arguments, interface, loaded.bundled_inputs, options.bundle_inputs, diagnostics);
}

// The tensors of the first bundled input.
std::vector<InputTuple> bundled_tensors(const ForwardArguments& arguments, const LoadedModel& loaded) {
  if (loaded.bundled_inputs.empty()) return {};
  const auto values = take_apart(arguments, loaded.bundled_inputs[0]);
  if (!values) return {};
  InputTuple tensors;
  const std::vector<const ArgumentTree*> all = leaves(arguments);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->is_tensor()) tensors.push_back((*values)[i]);
  }
  return {tensors};
}

bool has_unknown_macs(const Plan& plan) {
  return std::any_of(plan.cpu_nodes.begin(), plan.cpu_nodes.end(),
                     [](const CpuNode& node) { return !node.macs && node.cost == CostKind::kProduct; });
}

bool has_quantised(const TypeMap& types) {
  return std::any_of(types.begin(), types.end(), [](const auto& entry) {
    const auto* type = std::get_if<TensorType>(&entry.second);
    return type != nullptr && type->is_quantized();
  });
}

// A model's graph, with its interface as --quant asks for it.
struct GraphForParts {
  NormalisedModel model;
  InferredTypes inferred;
  std::vector<TensorType> inputs, original_inputs, original_outputs;
  QuantMode quant = QuantMode::kNone;  // the mode taken
};

bool any_quantised(const std::vector<TensorType>& types) {
  return std::any_of(types.begin(), types.end(), [](const TensorType& type) { return type.is_quantized(); });
}

GraphForParts graph_for_parts(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  GraphForParts graph;
  NormalisedModel& model = graph.model = normalise_for_parts(loaded, names_of(options.inputs), diagnostics);
  graph.inputs = input_types(model, bundled_tensors(model.arguments, loaded), options.inputs, InputTakers::kCpuToo);
  graph.original_inputs = graph.inputs;
  graph.inferred = infer(model, graph.inputs, for_cpu());
  check_original_runs(loaded, model, graph.inputs, graph.inferred);
  find_outputs(model);
  graph.original_outputs = output_types(model, graph.inferred.types);
  if (options.quant == QuantMode::kAuto || options.quant == QuantMode::kNone) {
    const bool has_interface = any_quantised(graph.inputs);
    if (has_quantised(graph.inferred.types)) graph.quant = has_interface ? QuantMode::kFull : QuantMode::kNnapi;
    return graph;
  }
  graph.quant = options.quant;
  graph.inputs = apply_quant_mode_to_parts(model, graph.inputs, graph.inferred.types, options.quant, diagnostics);
  graph.inferred = infer(model, graph.inputs, for_cpu());
  return graph;
}

ModuleInterface interface_of(const GraphForParts& graph) {
  const NormalisedModel& model = graph.model;
  ModuleInterface interface { {}, {}, model.return_tree };
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    interface.inputs.push_back({model.input_names[i], graph.inputs[i], std::nullopt, !model.inputs[i]->uses().empty(),
                                graph.original_inputs[i]});
  }
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

// Bundled inputs of tensors only, as the graph takes them.
std::vector<InputTuple> samples_for(const GraphForParts& graph, const LoadedModel& loaded) {
  std::vector<InputTuple> samples = loaded.bundled_inputs;
  for (InputTuple& sample : samples) {
    for (size_t i = 0; i < sample.size() && i < graph.inputs.size(); ++i) {
      if (sample[i].isTensor()) sample[i] = to_interface(sample[i].toTensor(), graph.inputs[i]);
    }
  }
  return samples;
}

std::vector<torch::jit::Module> emit_segments(Conversion& result, Plan& plan, const ConvertOptions& options,
                                              const std::shared_ptr<torch::jit::CompilationUnit>& unit,
                                              Stages& stages) {
  const BundledInputs no_samples;
  std::vector<torch::jit::Module> modules;
  for (PlannedSegment& planned : plan.segments) {
    EmittedPart emitted =
        emit_part(planned.part, options, {no_samples, {}, {segment_class(modules.size()), unit}}, *result.late, stages);
    modules.push_back(emitted.module);
    result.buffer_bytes += emitted.buffer_bytes;
    result.weight_bytes += emitted.weight_bytes;
  }
  return modules;
}

std::vector<std::string> names_of_values(const std::vector<torch::jit::Node*>& nodes) {
  std::vector<std::string> names;
  for (const torch::jit::Node* node : nodes) {
    for (const torch::jit::Value* output : node->outputs()) names.push_back(output->debugName());
  }
  return names;
}

// By segment.
std::vector<std::vector<std::string>> names_of_values(const Plan& plan) {
  std::vector<std::vector<std::string>> names(plan.segments.size());
  const auto add = [&](const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
      if (step.segment >= 0) names[static_cast<size_t>(step.segment)] = names_of_values(step.nodes);
    }
  };
  add(plan.steps);
  for (const auto& block : plan.blocks) add(block.second);
  return names;
}

void describe(Conversion& result, Plan& plan) {
  const std::vector<std::vector<std::string>> value_names = names_of_values(plan);
  for (PlannedSegment& planned : plan.segments) {
    SegmentSummary summary{std::move(planned.part.model), planned.macs, planned.segment.inputs.size(),
                           planned.segment.outputs.size()};
    summary.input_bytes = nnapi::byte_count(summary.model, summary.model.inputs);
    for (const torch::jit::Value* input : planned.segment.inputs) summary.input_names.push_back(input->debugName());
    summary.output_bytes = nnapi::byte_count(summary.model, summary.model.outputs);
    if (planned.segment.rows) summary.rows = RowSummary{planned.segment.rows->per_call, *planned.expected_rows};
    summary.value_names = value_names[result.segments.size()];
    summary.products = planned.products;
    summary.uncounted = planned.uncounted;
    summary.places = std::move(planned.places);
    result.segments.push_back(std::move(summary));
  }
  result.cpu_nodes = std::move(plan.cpu_nodes);
}

}  // namespace

namespace {

std::vector<const torch::jit::Node*> nnapi_nodes(const Plan& plan) {
  std::vector<const torch::jit::Node*> nodes;
  const auto add = [&](const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
      if (step.segment >= 0) nodes.insert(nodes.end(), step.nodes.begin(), step.nodes.end());
    }
  };
  add(plan.steps);
  for (const auto& [block, steps] : plan.blocks) add(steps);
  return nodes;
}

PartitionedModel make_parts(const LoadedModel& loaded, const ConvertOptions& options, const std::string& refusal,
                            bool recognises, Diagnostics& diagnostics) {
  Stages stages(options);
  stages.begin("partition");
  GraphForParts graph = graph_for_parts(loaded, options, diagnostics);
  if (graph.quant != QuantMode::kNone && options.quant == QuantMode::kNone) {
    throw ConvertError(ExitCode::kNotConvertible, refusal);
  }
  NormalisedModel& model = graph.model;
  InferredTypes& inferred = graph.inferred;
  if (recognises && recognise(model, inferred.types)) inferred = infer(model, graph.inputs, for_cpu());
  torch::jit::EliminateDeadCode(model.graph);  // sizes that turned out to be constants
  const bool keeps_state = !model.graph->inputs()[0]->uses().empty();
  const bool has_samples = takes_tensors_only(model.arguments) && !keeps_state;
  const std::vector<InputTuple> samples = has_samples ? samples_for(graph, loaded) : std::vector<InputTuple>();
  count_in_samples(model, samples, inferred);
  Plan plan = partition(model, inferred, options, diagnostics);
  warn_of_wide_integers(nnapi_nodes(plan), model, inferred.types, diagnostics);
  if (!samples.empty() && has_unknown_macs(plan)) {
    Diagnostics ignored;
    count_macs_in_samples(reference_for_parts(loaded, options, ignored), samples, plan);
  }
  stages.end([&] { return to_text(plan); });
  if (plan.segments.empty()) refuse_all(graph.inputs, plan, refusal, options.segments);

  ModuleInterface interface = interface_of(graph);
  ModelGraph shown = graph_of({model, plan, inferred.types});
  return {std::move(model), std::move(plan), std::move(interface), std::move(shown), graph.quant};
}

// Operators that recognise() put into the graph; PyTorch knows none of them.
bool is_own_operator(const torch::jit::Node* node) {
  return node->kind().ns().toUnqualString() == std::string("nnapi_convert");
}

bool has_own_operators(const Plan& plan) {
  return std::any_of(plan.cpu_nodes.begin(), plan.cpu_nodes.end(), [](const CpuNode& cpu) {
    return std::any_of(cpu.nodes.begin(), cpu.nodes.end(), is_own_operator);
  });
}

}  // namespace

PartitionedModel plan_partitioned(const LoadedModel& loaded, const ConvertOptions& options, const std::string& refusal,
                                  Diagnostics& diagnostics) {
  Diagnostics of_recognised = diagnostics;
  PartitionedModel recognised = make_parts(loaded, options, refusal, true, of_recognised);
  if (has_own_operators(recognised.plan)) return make_parts(loaded, options, refusal, false, diagnostics);
  diagnostics = std::move(of_recognised);
  return recognised;
}

NormalisedModel reference_for_parts(const LoadedModel& loaded, const ConvertOptions& options,
                                    Diagnostics& diagnostics) {
  return graph_for_parts(loaded, options, diagnostics).model;
}

Conversion describe_partitioned(PartitionedModel& partitioned, const ConvertOptions& options) {
  Conversion result;
  result.runtime = options.runtime;
  result.embeds_shim_source = options.embed_shim_source;
  result.recorded_options = record_options(options);
  result.quant = partitioned.quant;
  result.interface = partitioned.interface;
  result.graph = std::move(partitioned.graph);
  describe(result, partitioned.plan);
  return result;
}

Conversion emit_partitioned(PartitionedModel& partitioned, LoadedModel& loaded, const ConvertOptions& options,
                            Diagnostics& diagnostics) {
  Stages stages(options);
  Conversion emitted;
  const BundledInputs samples = bundled(partitioned.model, partitioned.interface, loaded, options, diagnostics);
  const std::vector<StateAttribute> state = state_of(partitioned.model);
  release_weights(loaded, partitioned.model, partitioned.plan);
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  const std::vector<torch::jit::Module> modules = emit_segments(emitted, partitioned.plan, options, unit, stages);
  emitted.module =
      build_host_module({partitioned.model, partitioned.plan, modules, partitioned.interface, samples, unit, state});
  Conversion result = describe_partitioned(partitioned, options);
  result.module = std::move(emitted.module);
  result.late = std::move(emitted.late);
  result.buffer_bytes = emitted.buffer_bytes;
  result.weight_bytes = emitted.weight_bytes;
  result.bundled_inputs = samples;
  return result;
}

}  // namespace nnapi_convert
