#include "lib/converter/convert.h"

#include "lib/base/error.h"
#include "lib/converter/emit/emit.h"
#include "lib/converter/options/control_flow_options.h"
#include "lib/converter/options/stages.h"
#include "lib/converter/partition/split.h"
#include "lib/converter/partition/whole.h"

namespace nnapi_convert {
namespace {

// Normalise, infer, partition, lower, optimise and validate: from the model to a plan whose segments have their models.
// The whole graph is offered as one segment first; where it is refused it is split.
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

}  // namespace

Conversion plan_conversion(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  PlannedModel planned = make_plan(loaded, options, diagnostics, stages);
  return describe(planned, options);
}

Conversion convert(LoadedModel loaded, const ConvertOptions& options, Diagnostics& diagnostics) {
  Stages stages(options);
  PlannedModel planned = make_plan(loaded, options, diagnostics, stages);
  // Serialize and emit.
  return emit(planned, loaded, options, diagnostics, stages);
}

}  // namespace nnapi_convert
