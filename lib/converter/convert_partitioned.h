// Converts a model of which NNAPI can run parts only.
#pragma once

#include <string>

#include "lib/converter/convert.h"
#include "lib/converter/normalised_model.h"

namespace nnapi_convert {

struct PartitionedModel {
  NormalisedModel model;
  Plan plan;
  ModuleInterface interface;
  ModelGraph graph;
  QuantMode quant = QuantMode::kNone;  // the mode taken
};

// `refusal` says why the whole can't be converted; it is thrown again, as ConvertError (kNotConvertible), where the
// model can't be partitioned either: a flexible size is not one of rows, or no segment is worth a call of NNAPI. Where
// --quant can't be had, another ConvertError says why.
PartitionedModel plan_partitioned(const LoadedModel& loaded, const ConvertOptions& options, const std::string& refusal,
                                  Diagnostics& diagnostics);

// The graph that plan_partitioned() takes apart, with values of the same names, as TorchScript runs it: operations that
// NNAPI alone has aren't in it. It takes what the converted module takes.
NormalisedModel reference_for_parts(const LoadedModel& loaded, const ConvertOptions& options, Diagnostics& diagnostics);

// The plan in numbers, without a module. Takes the plan's NNAPI models.
Conversion describe_partitioned(PartitionedModel& partitioned, const ConvertOptions& options);

// `loaded` gives its module away, so that weights are freed as they are converted.
Conversion emit_partitioned(PartitionedModel& partitioned, LoadedModel& loaded, const ConvertOptions& options,
                            Diagnostics& diagnostics);

}  // namespace nnapi_convert
