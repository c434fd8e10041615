// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/emit.h"

#include <memory>

#include "lib/converter/emit/check_samples.h"
#include "lib/converter/emit/emit_cpu.h"
#include "lib/converter/emit/emitted_part.h"
#include "lib/converter/emit/partitioned_module.h"
#include "lib/converter/emit/program.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/emit/release_weights.h"
#include "lib/converter/emit/segment_on_cpu.h"
#include "lib/converter/emit/segment_wiring.h"
#include "lib/converter/frontend/argument_samples.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/sample_inputs.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/nnapi/cost.h"

namespace nnapi_convert {
namespace {

BundledInputs bundled(const PlannedModel& planned, const LoadedModel& loaded, const ConvertOptions& options,
                      Diagnostics& diagnostics) {
  if (takes_tensors_only(planned.model.arguments)) {
    return bundled_samples(planned.interface, loaded.bundled_inputs, options.bundle_inputs, diagnostics);
  }
  return bundled_arguments(planned.model.arguments, planned.interface, loaded.bundled_inputs, options.bundle_inputs,
                           diagnostics);
}

// The module, the late weights and the buffers that are made of a plan.
struct Emitted {
  torch::jit::Module module;
  const MethodPlace* place = nullptr;  // in a file of several methods
  std::shared_ptr<DeferredTensors> late = std::make_shared<DeferredTensors>();
  std::vector<SerializedModel> serialized;        // by segment
  std::vector<std::shared_ptr<ShimBuffer>> shim;  // by segment
  std::vector<std::vector<BufferSample>> checks;  // by segment
  size_t buffer_bytes = 0;
  uint64_t weight_bytes = 0;
  std::optional<ShimWiring> wiring;
  std::shared_ptr<const Program> program;

  torch::jit::Module add(EmittedPart part) {
    buffer_bytes += part.buffer_bytes;
    weight_bytes += part.weight_bytes;
    serialized.push_back(std::move(part.serialized));
    shim.push_back(std::move(part.shim));
    return std::move(part.module);
  }
};

// Makes the module of a plan of one segment: that segment's module.
void emit_whole(Emitted& emitted, PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                const BundledInputs& samples, Diagnostics& diagnostics, Stages& stages) {
  EmitRequest request{
      samples,
      options.no_torchscript ? std::nullopt : cpu_fallback(frontend.loaded(), planned.interface, options.fallback),
      {},
      emitted.checks[0]};
  if (emitted.place != nullptr) {
    request.place = {kWrapperClass + emitted.place->host.suffix, emitted.place->unit};
    request.shares_weights = true;
  }
  const bool is_for_shim = options.runtime == Runtime::kShim && emitted.place == nullptr;
  std::vector<SegmentOnCpu> on_cpu;
  if (is_for_shim && has_cpu_form(options.fallback)) {
    on_cpu.push_back(whole_on_cpu(planned.plan.segments[0], frontend.loaded()));
  }
  frontend.release();
  NnapiPart& part = planned.plan.segments[0].part;
  emitted.module = emitted.add(emit_part(part, options, request, *emitted.late, stages));
  if (!is_for_shim) return;
  Diagnostics of_program;  // a CPU model in the file stands in for what the program lacks
  emitted.program =
      program_of_whole(emitted.module, part.model, part.interface, on_cpu, !options.strip_names,
                       {request.cpu.has_value(), options.may_need_pytorch}, request.cpu ? of_program : diagnostics);
}

// Makes the modules of the segments, in the host's unit.
std::vector<torch::jit::Module> emit_segments(Emitted& emitted, PlannedModel& planned, const ConvertOptions& options,
                                              const std::shared_ptr<torch::jit::CompilationUnit>& unit,
                                              Stages& stages) {
  const BundledInputs no_samples;
  const std::string suffix = emitted.place == nullptr ? "" : emitted.place->host.suffix;
  std::vector<torch::jit::Module> modules;
  for (PlannedSegment& segment : planned.plan.segments) {
    const size_t number = modules.size();
    const EmitRequest request{
        no_samples, {}, {segment_class(number, suffix), unit}, emitted.checks[number], emitted.place != nullptr};
    modules.push_back(emitted.add(emit_part(segment.part, options, request, *emitted.late, stages)));
  }
  return modules;
}

void emit_split(Emitted& emitted, PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                const BundledInputs& samples, Diagnostics& diagnostics, Stages& stages) {
  const MethodPlace* place = emitted.place;
  std::vector<StateAttribute> state = place == nullptr ? state_of(planned.model) : place->state;
  std::vector<KeptMethod> methods;
  if (place == nullptr) methods = kept_methods(frontend.loaded().module, {}, state, diagnostics);
  if (state.empty()) emitted.wiring = wiring_of(planned);
  const bool is_for_shim = options.runtime == Runtime::kShim && place == nullptr;
  std::vector<SegmentOnCpu> on_cpu;
  if (is_for_shim && options.fallback == Fallback::kPartitionCpu) {
    for (const PlannedSegment& segment : planned.plan.segments) on_cpu.push_back(segment_on_cpu(segment));
  }
  frontend.release();
  release_weights(planned.model, planned.plan);
  const auto unit = place == nullptr ? std::make_shared<torch::jit::CompilationUnit>() : place->unit;
  const std::vector<torch::jit::Module> modules = emit_segments(emitted, planned, options, unit, stages);
  emitted.module = build_partitioned_module({planned.model, planned.plan, modules, planned.interface, samples, unit,
                                             state, methods, place == nullptr ? HostPlace() : place->host});
  if (!is_for_shim) return;
  ProgramRequest request{emitted.module};
  for (const KeptMethod& method : methods) request.kept.push_back(method.schema.name());
  request.on_cpu = std::move(on_cpu);
  request.keeps_places = !options.strip_names;
  emitted.program = program_of(request, {emitted.wiring.has_value(), options.may_need_pytorch}, diagnostics);
}

std::vector<std::string> names_of_values(const std::vector<torch::jit::Node*>& nodes) {
  std::vector<std::string> names;
  for (const torch::jit::Node* node : nodes) {
    for (const torch::jit::Value* output : node->outputs()) names.push_back(output->debugName());
  }
  return names;
}

BundledInputs data_of(const GivenSamples& given, const BundledInputs& bundled) {
  BundledInputs data;
  for (const std::vector<at::Tensor>& sample : given.tensors) data.emplace_back(sample.begin(), sample.end());
  return data.empty() ? bundled : data;
}

// Returns for each segment the names of the values that its nodes make.
std::vector<std::vector<std::string>> names_of_values(const Plan& plan) {
  std::vector<std::vector<std::string>> names(plan.segments.size());
  for (const PlanStep* step : segment_steps(plan))
    names[static_cast<size_t>(step->segment)] = names_of_values(step->nodes);
  return names;
}

SegmentSummary summary_of(PlannedSegment& planned) {
  SegmentSummary summary{std::move(planned.part.model), planned.macs, planned.part.interface.inputs.size(),
                         planned.part.interface.outputs.size()};
  summary.input_bytes = nnapi::byte_count(summary.model, summary.model.inputs);
  for (const torch::jit::Value* input : planned.segment.inputs) summary.input_names.push_back(input->debugName());
  summary.output_bytes = nnapi::byte_count(summary.model, summary.model.outputs);
  if (planned.segment.rows) summary.rows = RowSummary{planned.segment.rows->per_call, *planned.expected_rows};
  summary.products = planned.products;
  summary.uncounted = planned.uncounted;
  summary.places = std::move(planned.places);
  return summary;
}

}  // namespace

Conversion describe(PlannedModel& planned, const ConvertOptions& options) {
  Conversion result;
  result.runtime = options.runtime;
  result.embeds_shim_source = options.embed_shim_source;
  result.keeps_source_lines = !options.strip_names;
  result.recorded_options = record_options(options);
  result.pictures = options.pictures;
  result.quant = planned.quant;
  result.kept = planned.kept;
  result.interface = planned.interface;
  result.graph = std::move(planned.graph);
  result.is_whole = planned.plan.is_whole();
  std::vector<std::vector<std::string>> value_names = names_of_values(planned.plan);
  for (PlannedSegment& segment : planned.plan.segments) {
    result.segments.push_back(summary_of(segment));
    result.segments.back().value_names = std::move(value_names[result.segments.size() - 1]);
  }
  result.cpu_nodes = std::move(planned.plan.cpu_nodes);
  return result;
}

namespace {

Conversion emit_plan(Emitted& emitted, PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                     const BundledInputs& samples, Diagnostics& diagnostics, Stages& stages) {
  if (planned.plan.is_whole()) {
    emit_whole(emitted, planned, frontend, options, samples, diagnostics, stages);
  } else {
    emit_split(emitted, planned, frontend, options, samples, diagnostics, stages);
  }
  Conversion result = describe(planned, options);
  result.module = std::move(emitted.module);
  result.late = std::move(emitted.late);
  result.buffer_bytes = emitted.buffer_bytes;
  result.weight_bytes = emitted.weight_bytes;
  result.wiring = std::move(emitted.wiring);
  result.program = std::move(emitted.program);
  result.has_module = !options.no_torchscript;
  result.bundled_inputs = samples;
  for (size_t i = 0; i < result.segments.size(); ++i) {
    result.segments[i].serialized = std::move(emitted.serialized[i]);
    result.segments[i].shim = std::move(emitted.shim[i]);
  }
  return result;
}

}  // namespace

Conversion emit(PlannedModel& planned, Frontend& frontend, const ConvertOptions& options, const GivenSamples& given,
                Diagnostics& diagnostics, Stages& stages) {
  const BundledInputs samples = bundled(planned, frontend.loaded(), options, diagnostics);
  Emitted emitted;
  emitted.checks =
      check_samples({planned, frontend, options, data_of(given, samples), given.is_calibrated}, diagnostics);
  return emit_plan(emitted, planned, frontend, options, samples, diagnostics, stages);
}

Conversion emit_method(PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                       const MethodPlace& place, Diagnostics& diagnostics, Stages& stages) {
  Emitted emitted;
  emitted.place = &place;
  emitted.late = place.late;
  emitted.checks = check_samples({planned, frontend, options, {}, false}, diagnostics);
  return emit_plan(emitted, planned, frontend, options, {}, diagnostics, stages);
}

}  // namespace nnapi_convert
