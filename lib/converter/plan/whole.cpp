// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/whole.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/options_needed.h"
#include "lib/base/refusal_groups.h"
#include "lib/converter/frontend/memory_order.h"
#include "lib/converter/frontend/original_run.h"
#include "lib/converter/plan/interface.h"
#include "lib/converter/plan/lower.h"
#include "lib/converter/plan/refused_model.h"
#include "lib/converter/plan/wide_integers.h"
#include "lib/nnapi/cost.h"
#include "lib/nnapi/dump.h"

namespace nnapi_convert {
namespace {

constexpr size_t kMostRefusalsShown = 20;

SegmentRefusal refusal_of_nodes(std::vector<Refusal> nodes) {
  SegmentRefusal refusal;
  refusal.reason = counted(nodes.size(), "operation") + " can't be lowered to NNAPI";
  const std::vector<RefusalGroup> groups = groups_of(nodes);
  const size_t shown = std::min(groups.size(), kMostRefusalsShown);
  size_t left = nodes.size();
  for (size_t i = 0; i < shown; ++i) {
    refusal.reason += "\n  " + groups[i].message();
    left -= groups[i].members.size();
  }
  if (left > 0) refusal.reason += fmt::format("\n  and {} more: --report has all of them", left);
  refusal.nodes = std::move(nodes);
  return refusal;
}

// Returns the nodes that infer refused and those that lower would refuse, so that the user sees all at once.
std::vector<Refusal> all_refusals(const TypedModel& typed, const PlanOptions& options) {
  std::vector<Refusal> refusals = typed.inferred.refusals;
  const auto& inputs = typed.original_inputs;
  const bool are_taken =
      std::all_of(inputs.begin(), inputs.end(), [](const TensorType& type) { return has_operand_code(type.dtype); });
  if (typed.boundaries || !are_taken) return refusals;
  const std::vector<Refusal> rest =
      lowering_refusals(typed.model, typed.original_inputs, typed.inferred.types, target_of(options));
  refusals.insert(refusals.end(), rest.begin(), rest.end());
  return refusals;
}

// Lowers the whole graph. Sets the quantisation of `planned`. Sets its graph if the model is refused and is not split.
Offer lower_whole(Frontend& frontend, const PlanOptions& options, PlannedModel& planned, Diagnostics& diagnostics,
                  Stages& stages) {
  const TypedModel& typed = frontend.whole(diagnostics);
  const auto refused = [&](std::vector<Refusal> refusals) {
    if (!may_part(options.fallback)) {
      planned.graph = graph_of_refused(typed.model, typed.inferred.types, refusals);
    }
    return Offer{{}, refusal_of_nodes(std::move(refusals))};
  };
  if (!typed.inferred.refusals.empty()) return refused(all_refusals(typed, options));
  std::vector<Refusal> by_order = memory_order_refusals(typed.model, typed.inferred);
  if (!by_order.empty()) return refused(std::move(by_order));

  stages.begin("lower");
  const TypeMap& types = typed.inferred.types;
  LoweredModel lowered = lower(typed.model, graph_inputs(typed), types, target_of(options), diagnostics);
  if (!lowered.refusals.empty()) return refused(std::move(lowered.refusals));
  stages.end([&] { return nnapi::to_text(lowered.model); });
  warn_of_wide_integers(all_nodes(*typed.model.graph), typed.model, types, diagnostics);
  planned.quant = typed.boundaries->mode;
  planned.model.arguments = typed.model.arguments;
  ModuleInterface interface = make_interface(typed.model, *typed.boundaries, lowered, typed.original_inputs,
                                             typed.original_outputs, output_types(typed.model, types));
  for (size_t i = 0; i < interface.inputs.size(); ++i) interface.inputs[i].source = typed.input_sources[i];
  interface.arguments = typed.model.arguments;
  interface.conditions = typed.conditions;
  return {{std::move(lowered.model), std::move(interface)}, std::nullopt};
}

PlannedSegment planned_segment(NnapiPart part) {
  PlannedSegment planned;
  const Count macs = nnapi::multiply_adds(part.model);
  planned.macs = macs.value_or(0);
  planned.uncounted = macs.is_known() ? 0 : 1;
  planned.part = std::move(part);
  return planned;
}

PlannedModel plan_of_one(Frontend& frontend, const PlanOptions& options, Diagnostics& diagnostics, Stages& stages) {
  PlannedModel planned;
  Offer offer = lower_whole(frontend, options, planned, diagnostics, stages);
  if (!offer.refusal) {
    stages.begin("optimise");
    optimise_part(offer.part, options, options.layout, diagnostics);
    stages.end([&] { return nnapi::to_text(offer.part.model); });
    offer.refusal = refusal_of(offer.part, options);
    if (offer.refusal) planned.graph = graph_of(offer.part.model, offer.part.interface);
  }
  if (offer.refusal) {
    planned.plan.refusal = std::move(offer.refusal);
    return planned;
  }
  planned.interface = offer.part.interface;
  planned.graph = graph_of(offer.part.model, offer.part.interface);
  planned.plan.steps = {{{}, 0}};
  planned.plan.segments.push_back(planned_segment(std::move(offer.part)));
  return planned;
}

}  // namespace

PlannedModel offer_whole(Frontend& frontend, const PlanOptions& options, Diagnostics& diagnostics, Stages& stages) {
  try {
    return plan_of_one(frontend, options, diagnostics, stages);
  } catch (const OriginalFails&) {
    throw;
  } catch (const OptionsNeeded&) {  // parts of the model need these options, too
    throw;
  } catch (const ConvertError& error) {
    if (error.exit_code() != ExitCode::kNotConvertible) throw;
    PlannedModel refused;
    refused.plan.refusal = SegmentRefusal{error.what()};
    return refused;
  }
}

}  // namespace nnapi_convert
