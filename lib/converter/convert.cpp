// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/converter/emit/attached_records.h"
#include "lib/converter/emit/emit.h"
#include "lib/converter/emit/method_state.h"
#include "lib/converter/emit/whole_distance.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/method_view.h"
#include "lib/converter/plan/refused_model.h"
#include "lib/converter/plan/split.h"
#include "lib/converter/plan/whole.h"
#include "lib/nnapi/passes/take_parts.h"
#include "lib/quantise/half_range_step.h"
#include "lib/quantise/int8_weights_step.h"
#include "lib/quantise/quantise_plan.h"
#include "lib/quantise/recorded_calibration.h"
#include "lib/quantise/result_splits.h"
#include "lib/serialize/float16_weights.h"
#include "lib/types/control_flow_options.h"
#include "lib/types/stages.h"

namespace nnapi_convert {
namespace {

// Runs the stages from normalise to validate: makes a plan whose segments have their NNAPI models. Offers the whole
// graph as one segment first, and splits the graph if that segment is refused.
PlannedModel make_plan(Frontend& frontend, const ConvertOptions& options, Diagnostics& diagnostics, Stages& stages) {
  check_control_flow(options);
  const std::vector<Warning> of_loading = diagnostics.warnings;
  PlannedModel whole = offer_whole(frontend, options, diagnostics, stages);
  if (whole.plan.is_whole()) return whole;
  const SegmentRefusal& refusal = *whole.plan.refusal;
  diagnostics.refusals = refusal.nodes;
  if (!may_part(options.fallback)) throw RefusedModel(refusal.reason, {std::move(whole.graph), refusal.nodes});
  diagnostics.warnings = of_loading;
  return split(frontend, options, refusal, diagnostics, stages);
}

// Calibration quantises the plan of the float model: the plan itself is made as without --quant.
ConvertOptions planning_options(ConvertOptions options, const CalibrationOptions& calibration) {
  const bool calibrates = calibration.is_asked_for();
  if (calibrates) options.quant = QuantMode::kAuto;
  options.is_quantised_later = calibrates;
  // Keeps MEAN as it is. `add_in_mean` would turn it into a layer with weights: quantising would then compute it with
  // integers inside a float layer norm, and --fp16-weights would round its 1/n.
  if (calibrates || options.fp16_weights) options.disabled_passes.insert("add_in_mean");
  return options;
}

void store_as_float16(PlannedModel& planned, bool after_int8, Diagnostics& diagnostics) {
  Float16Weights weights;
  for (PlannedSegment& segment : planned.plan.segments) {
    const Float16Weights more = store_weights_as_float16(segment.part.model);
    weights.rounded += more.rounded;
    weights.kept += more.kept;
  }
  if (weights.kept > 0) {
    diagnostics.warn(fmt::format("--fp16-weights: {} of {} weights stay float32: float16 has no numbers of their size",
                                 weights.kept, weights.kept + weights.rounded));
  } else if (weights.rounded == 0 && !after_int8) {
    diagnostics.warn("--fp16-weights: no weight of NNAPI's part is float32 and large enough");
  }
}

// Stores weights in less than float32, as options ask for: as int8 where that is exact enough, the rest as float16.
std::optional<StoredWeights> round_weights(PlannedModel& planned, Frontend& frontend, const ConvertOptions& options,
                                           const CalibrationSamples& given, Diagnostics& diagnostics, Stages& stages) {
  std::optional<StoredWeights> stored;
  if (options.int8_weights) {
    stages.begin("int8-weights");
    stored = store_weights_as_int8(planned, frontend, options, given, diagnostics);
  }
  if (options.fp16_weights) store_as_float16(planned, stored && stored->int8_count() > 0, diagnostics);
  return stored;
}

}  // namespace

Conversion plan_conversion(Frontend& frontend, const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  PlannedModel planned = make_plan(frontend, options, diagnostics, stages);
  return describe(planned, options);
}

Frontend make_frontend(LoadedModel loaded, const ConvertOptions& options, const CalibrationOptions& calibration) {
  return {std::move(loaded), planning_options(options, calibration)};
}

Conversion convert(Frontend& frontend, const ConvertOptions& options, const CalibrationOptions& calibration,
                   const std::vector<std::string>& class_names, Diagnostics& diagnostics) {
  Stages stages(options);
  const ConvertOptions planning = planning_options(options, calibration);
  PlannedModel planned = make_plan(frontend, planning, diagnostics, stages);
  if (options.split_outputs) {
    for (PlannedSegment& segment : planned.plan.segments) nnapi::take_parts(segment.part.model);
  }
  if (options.pictures && !calibration.is_asked_for()) check_pictures(*options.pictures, planned.interface);
  std::optional<QuantisedPlan> quantised;
  GivenSamples given;
  if (calibration.is_asked_for()) {
    quantised = quantise_plan(planned, frontend, options, calibration, class_names, diagnostics, stages);
    given = {std::move(quantised->first_samples), true};
  }
  ConvertOptions emitted = options;
  // Doesn't plan a model again that was quantised by data.
  const bool may_split = may_part(options.fallback) && !quantised;
  emitted.relax_fp16 = fit_into_half_range(planned, frontend, planning, given.tensors, may_split, diagnostics);
  const std::optional<StoredWeights> stored =
      round_weights(planned, frontend, options, given.tensors, diagnostics, stages);
  // Serialize and emit.
  Conversion conversion = emit(planned, frontend, emitted, given, diagnostics, stages);
  conversion.stored_weights = stored;
  if (!quantised) return conversion;
  measure_whole(conversion, *quantised, diagnostics);
  // A table of scales brings its own preparation of pictures: it replaces the options' one.
  if (quantised->recorded.pictures.is_given()) conversion.pictures = quantised->recorded.pictures;
  conversion.recorded_options = with_calibration(conversion.recorded_options, quantised->recorded, quantised->parts);
  if (!calibration.table.empty()) conversion.calibration_table = table_of(*quantised);
  conversion.quantised = std::move(quantised->parts);
  return conversion;
}

std::vector<ResultSplit> splits_of(LoadedModel loaded, const ConvertOptions& options,
                                   const CalibrationOptions& calibration, Diagnostics& diagnostics) {
  const char* unsplit = "--split-output: results stay as they are: ";
  ConvertOptions quiet = planning_options(options, calibration);
  quiet.on_dump = nullptr;
  Stages stages(quiet);
  Diagnostics own;
  Frontend frontend = make_frontend(std::exchange(loaded, {}), options, calibration);
  const PlannedModel planned = make_plan(frontend, quiet, own, stages);
  if (!planned.plan.is_whole()) {
    diagnostics.warn(unsplit + std::string("parts of the model stay on the CPU"));
    return {};
  }
  std::vector<ResultSplit> splits;
  try {
    splits = uneven_results(planned.plan.segments[0].part, frontend);
  } catch (const std::exception& error) {
    diagnostics.warn(unsplit + torch_reason(error));
    return {};
  }
  if (splits.empty()) diagnostics.warn(unsplit + std::string("none joins parts whose ranges differ 16 times or more"));
  return splits;
}

namespace {

PlannedMethod plan_method(const std::string& name, LoadedModel loaded, const ConvertOptions& options,
                          Diagnostics& diagnostics, Stages& stages) {
  Diagnostics own;
  try {
    const ConvertOptions bound = bind_arguments(loaded, options);
    PlannedMethod method{name, Frontend(std::move(loaded), bound), bound, {}};
    method.planned = make_plan(method.frontend, bound, own, stages);
    method.diagnostics = std::move(own);
    return method;
  } catch (const ConvertError& error) {
    diagnostics.refusals = std::move(own.refusals);
    for (Warning& warning : own.warnings) diagnostics.warn(std::move(warning));
    const bool may_stay = error.exit_code() == ExitCode::kNotConvertible;
    throw ConvertError(error.exit_code(),
                       fmt::format("method {}: {}{}", name, error.what(),
                                   may_stay ? fmt::format("\nwithout --method {} it stays as it is", name) : ""));
  }
}

// Plans each method again that takes state for unchanged that another method changes. Returns false if there is none.
// Each call knows of at least one more attribute that changes.
bool settle_state(std::vector<PlannedMethod>& planned, const LoadedModel& loaded,
                  const std::vector<std::string>& methods, const ConvertOptions& options, Diagnostics& diagnostics,
                  Stages& stages) {
  bool has_changed = false;
  for (size_t i = 0; i < planned.size(); ++i) {
    std::vector<AttributePath> unsettled = unsettled_state(planned, i);
    if (unsettled == planned[i].frontend.loaded().unsettled) continue;
    LoadedModel view = as_forward(loaded, methods[i]);
    view.unsettled = std::move(unsettled);
    planned[i] = plan_method(methods[i], std::move(view), options_of_method(loaded, methods, methods[i], options),
                             diagnostics, stages);
    has_changed = true;
  }
  return has_changed;
}

}  // namespace

MethodsConversion convert_methods(const LoadedModel& loaded, const std::vector<std::string>& methods,
                                  const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  std::vector<PlannedMethod> planned;
  for (const std::string& name : methods) {
    planned.push_back(plan_method(name, as_forward(loaded, name), options_of_method(loaded, methods, name, options),
                                  diagnostics, stages));
  }
  while (settle_state(planned, loaded, methods, options, diagnostics, stages)) {
  }
  for (PlannedMethod& method : planned) {
    method.options.relax_fp16 =
        fit_into_half_range(method.planned, method.frontend, method.options, {}, false, method.diagnostics);
    method.stored_weights =
        round_weights(method.planned, method.frontend, method.options, {}, method.diagnostics, stages);
  }
  return emit_methods(std::move(planned), loaded.module, diagnostics, stages);
}

ConvertOptions options_of_method(const LoadedModel& loaded, const std::vector<std::string>& methods,
                                 const std::string& method, const ConvertOptions& options) {
  const auto number = static_cast<size_t>(std::find(methods.begin(), methods.end(), method) - methods.begin());
  ConvertOptions result = options;
  result.inputs = inputs_by_method(loaded.module, methods, options.inputs).at(number);
  return result;
}

Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  Frontend frontend = make_frontend(std::exchange(loaded, {}), options);  // LibTorch's modules have no move
  return convert(frontend, options, {}, {}, diagnostics);
}

}  // namespace nnapi_convert
