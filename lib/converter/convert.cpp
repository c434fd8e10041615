#include "lib/converter/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/control_flow_options.h"
#include "lib/converter/convert_partitioned.h"
#include "lib/converter/emit_cpu.h"
#include "lib/converter/infer.h"
#include "lib/converter/input_types.h"
#include "lib/converter/interface.h"
#include "lib/converter/lower.h"
#include "lib/converter/nnapi_part.h"
#include "lib/converter/normalise.h"
#include "lib/converter/original_run.h"
#include "lib/converter/quant_mode.h"
#include "lib/converter/recognise.h"
#include "lib/converter/recorded_options.h"
#include "lib/converter/sample_inputs.h"
#include "lib/converter/stages.h"
#include "lib/converter/wide_integers.h"
#include "lib/nnapi/dump.h"
#include "lib/serialize/torchscript_emitter.h"

namespace nnapi_convert {
namespace {

void stop_on_refusals(const Diagnostics& diagnostics) {
  if (diagnostics.refusals.empty()) return;
  const size_t count = diagnostics.refusals.size();
  std::string message = fmt::format("{} operation{} can't be lowered to NNAPI", count, count == 1 ? "" : "s");
  for (const Refusal& refusal : diagnostics.refusals) message += "\n  " + refusal.message();
  throw ConvertError(ExitCode::kNotConvertible, message);
}

std::vector<TensorType> nnapi_types(const QuantBoundaries& boundaries) {
  std::vector<TensorType> types;
  for (const InputBoundary& input : boundaries.inputs) types.push_back(input.type);
  return types;
}

// Nodes that were refused, and those that would be refused on the way: the user sees them all at once.
void collect_refusals(const NormalisedModel& normalised, const std::vector<TensorType>& types, InferredTypes& inferred,
                      const Target& target, Diagnostics& diagnostics) {
  const std::vector<Refusal> rest = lowering_refusals(normalised, types, inferred.types, target);
  diagnostics.refusals = std::move(inferred.refusals);
  diagnostics.refusals.insert(diagnostics.refusals.end(), rest.begin(), rest.end());
}

// The stages that need the original: from TorchScript to NNAPI operations.
Conversion lower_to_nnapi(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                          Stages& stages) {
  stages.begin("normalise");
  NormalisedModel normalised = normalise(loaded, diagnostics);
  stages.end([&] { return to_text(normalised, {}); });

  stages.begin("infer");
  const std::vector<TensorType> original_types = input_types(normalised, loaded.bundled_inputs, options.inputs);
  InferredTypes inferred = infer(normalised, original_types, {options.control_flow});
  check_original_runs(loaded, normalised, original_types, inferred);
  if (recognise(normalised, inferred.types)) inferred = infer(normalised, original_types, {options.control_flow});
  if (!inferred.refusals.empty()) {
    collect_refusals(normalised, original_types, inferred, target_of(options), diagnostics);
  }
  stop_on_refusals(diagnostics);
  const std::vector<TensorType> original_outputs = output_types(normalised, inferred.types);
  const QuantBoundaries boundaries = apply_quant_mode(normalised, original_types, inferred.types, options.quant);
  const std::vector<TensorType> types = nnapi_types(boundaries);
  inferred = infer(normalised, types, {options.control_flow});
  diagnostics.refusals = inferred.refusals;
  stop_on_refusals(diagnostics);
  stages.end([&] { return to_text(normalised, inferred.types); });

  stages.begin("lower");
  LoweredModel lowered = lower(normalised, types, inferred.types, target_of(options), diagnostics);
  diagnostics.refusals = lowered.refusals;
  stop_on_refusals(diagnostics);
  stages.end([&] { return nnapi::to_text(lowered.model); });
  warn_of_wide_integers(all_nodes(*normalised.graph), normalised, inferred.types, diagnostics);
  Conversion result;
  result.quant = boundaries.mode;
  result.interface = make_interface(normalised, boundaries, lowered, original_types, original_outputs,
                                    output_types(normalised, inferred.types));
  result.model = std::move(lowered.model);
  return result;
}

std::optional<torch::jit::Module> cpu_fallback(const LoadedModel& loaded, const Conversion& conversion,
                                               Fallback fallback) {
  if (fallback != Fallback::kCpu && fallback != Fallback::kCpuPlain) return std::nullopt;
  const torch::jit::Module plain = cpu_counterpart(loaded, conversion.interface, {});
  return fallback == Fallback::kCpu ? optimised_for_mobile(plain) : plain;
}

// The stages that may refuse the model: NNAPI runs it whole, or not.
Conversion lower_whole(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                       Stages& stages) {
  Conversion result = lower_to_nnapi(loaded, options, diagnostics, stages);
  result.runtime = options.runtime;
  result.embeds_shim_source = options.embed_shim_source;
  result.recorded_options = record_options(options);
  stages.begin("optimise");
  NnapiPart part{std::move(result.model), std::move(result.interface)};
  optimise_part(part, options, diagnostics);
  stages.end([&] { return nnapi::to_text(part.model); });
  check_part(part, options);
  result.model = std::move(part.model);
  result.interface = std::move(part.interface);
  return result;
}

// `loaded` gives its module away: what nothing else holds is freed as the weights are evaluated.
void emit_whole(Conversion& result, LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                Stages& stages) {
  result.bundled_inputs = bundled_samples(result.interface, loaded.bundled_inputs, options.bundle_inputs, diagnostics);
  const EmitRequest request{result.bundled_inputs, cpu_fallback(loaded, result, options.fallback), {}};
  loaded.release();
  NnapiPart part{std::move(result.model), std::move(result.interface)};
  EmittedPart emitted = emit_part(part, options, request, *result.late, stages);
  result.model = std::move(part.model);
  result.interface = std::move(part.interface);
  result.module = std::move(emitted.module);
  result.serialized = std::move(emitted.serialized);
  result.buffer_bytes = emitted.buffer_bytes;
  result.weight_bytes = emitted.weight_bytes;
}

// All of a model, or parts of it, before anything is emitted.
struct Planned {
  Conversion whole;
  std::optional<PartitionedModel> parts;
};

Planned make_plan(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics, Stages& stages) {
  check_control_flow(options);
  Diagnostics of_whole = diagnostics;
  Planned result;
  try {
    result.whole = lower_whole(loaded, options, of_whole, stages);
  } catch (const OriginalFails&) {
    throw;
  } catch (const ConvertError& error) {
    diagnostics.refusals = of_whole.refusals;
    if (options.fallback == Fallback::kPartition && error.exit_code() == ExitCode::kNotConvertible) {
      result.parts = plan_partitioned(loaded, options, error.what(), diagnostics);
      return result;
    }
    diagnostics.warnings = std::move(of_whole.warnings);
    throw;
  }
  diagnostics = std::move(of_whole);
  return result;
}

}  // namespace

Conversion plan_conversion(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  Planned planned = make_plan(loaded, options, diagnostics, stages);
  return planned.parts ? describe_partitioned(*planned.parts, options) : std::move(planned.whole);
}

Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  Planned planned = make_plan(loaded, options, diagnostics, stages);
  if (planned.parts) return emit_partitioned(*planned.parts, loaded, options, diagnostics);
  emit_whole(planned.whole, loaded, options, diagnostics, stages);
  return std::move(planned.whole);
}

}  // namespace nnapi_convert
