// SPDX-License-Identifier: BSD-3-Clause
// The stage quantise: gives the models of a plan integer forms, by data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/frontend.h"
#include "lib/converter/plan/planned_model.h"
#include "lib/converter/samples/calibration_samples.h"
#include "lib/quantise/calibration_table.h"
#include "lib/quantise/expected_results.h"
#include "lib/quantise/quantised_parts.h"
#include "lib/quantise/result_scoring.h"
#include "lib/quantise/sample_truth.h"
#include "lib/types/calibration_options.h"
#include "lib/types/options.h"
#include "lib/types/stages.h"

namespace nnapi_convert {

struct QuantisedPlan {
  quantise::QuantisedParts parts;
  ExpectedResults expected = {};              // for a partitioned model, on the samples held back
  SampleTruth truth = {};                     // for the samples held back
  std::optional<ResultScoring> scoring = {};  // for a partitioned model
  CalibrationOptions recorded = {};           // the file's record of the calibration
  std::vector<TableModel> models = {};
  CalibrationSamples first_samples = {};  // of the data, from which the file's samples for checking a device are made
};

// Quantises the plan's models, and changes its interface as options.quant asks for; auto means nnapi. `class_names` are
// those of --labels. The segments of a partitioned model take and give floats. Throws ConvertError: kUsage for a model
// that is quantised already, and as read_calibration() and quantise::quantise() do.
QuantisedPlan quantise_plan(PlannedModel& planned, Frontend& frontend, const PlanOptions& options,
                            const CalibrationOptions& calibration, const std::vector<std::string>& class_names,
                            Diagnostics& diagnostics, Stages& stages);

// Returns the calibration table of the choices.
std::string table_of(const QuantisedPlan& quantised);

// Returns what was done and how near the results come, in words.
std::string to_text(const quantise::QuantisedParts& quantised);

}  // namespace nnapi_convert
