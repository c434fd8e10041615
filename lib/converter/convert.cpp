#include "lib/converter/convert.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/emit/emit.h"
#include "lib/converter/emit/recorded_calibration.h"
#include "lib/converter/options/control_flow_options.h"
#include "lib/converter/options/stages.h"
#include "lib/converter/partition/split.h"
#include "lib/converter/partition/whole.h"
#include "lib/converter/quantise/half_range_step.h"
#include "lib/converter/quantise/quantise_plan.h"
#include "lib/serialize/float16_weights.h"

namespace nnapi_convert {
namespace {

// Runs the stages from normalise to validate: makes a plan whose segments have their NNAPI models. Offers the whole
// graph as one segment first, and splits the graph if that segment is refused.
PlannedModel make_plan(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics,
                       Stages& stages) {
  check_control_flow(options);
  const std::vector<Warning> of_loading = diagnostics.warnings;
  PlannedModel whole = offer_whole(loaded, options, diagnostics, stages);
  if (whole.plan.is_whole()) return whole;
  const SegmentRefusal& refusal = *whole.plan.refusal;
  diagnostics.refusals = refusal.nodes;
  if (options.fallback != Fallback::kPartition) throw ConvertError(ExitCode::kNotConvertible, refusal.reason);
  diagnostics.warnings = of_loading;
  return split(loaded, options, refusal, diagnostics, stages);
}

// Calibration quantises the plan of the float model: the plan itself is made as without --quant.
ConvertOptions planning_options(ConvertOptions options, const CalibrationOptions& calibration) {
  if (calibration.is_asked_for()) options.quant = QuantMode::kAuto;
  return options;
}

void round_weights(PlannedModel& planned, Diagnostics& diagnostics) {
  Float16Weights weights;
  for (PlannedSegment& segment : planned.plan.segments) {
    const Float16Weights more = store_weights_as_float16(segment.part.model);
    weights.rounded += more.rounded;
    weights.kept += more.kept;
  }
  if (weights.kept > 0) {
    diagnostics.warn(fmt::format("--fp16-weights: {} of {} weights stay float32: float16 has no numbers of their size",
                                 weights.kept, weights.kept + weights.rounded));
  } else if (weights.rounded == 0) {
    diagnostics.warn("--fp16-weights: no weight of NNAPI's part is float32 and large enough");
  }
}

}  // namespace

Conversion plan_conversion(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  PlannedModel planned = make_plan(loaded, options, diagnostics, stages);
  return describe(planned, options);
}

Conversion convert(LoadedModel loaded, const ConvertOptions& options, const CalibrationOptions& calibration,
                   Diagnostics& diagnostics) {
  Stages stages(options);
  PlannedModel planned = make_plan(loaded, planning_options(options, calibration), diagnostics, stages);
  std::optional<QuantisedPlan> quantised;
  GivenSamples given;
  if (calibration.is_asked_for()) {
    quantised = quantise_plan(planned, loaded, options, calibration, diagnostics, stages);
    given = {std::move(quantised->first_samples), true};
  }
  if (options.fp16_weights) round_weights(planned, diagnostics);
  ConvertOptions emitted = options;
  emitted.relax_fp16 = fit_into_half_range(planned, loaded, options, given.tensors, diagnostics);
  // Serialize and emit.
  Conversion conversion = emit(planned, loaded, emitted, given, diagnostics, stages);
  if (!quantised) return conversion;
  measure_whole(conversion, *quantised);
  conversion.recorded_options = with_calibration(conversion.recorded_options, quantised->recorded, quantised->parts);
  if (!calibration.table.empty()) conversion.calibration_table = table_of(*quantised);
  conversion.quantised = std::move(quantised->parts);
  return conversion;
}

Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  return convert(std::move(loaded), options, CalibrationOptions{}, diagnostics);
}

}  // namespace nnapi_convert
