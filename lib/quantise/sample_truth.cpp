// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/sample_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lib/base/error.h"
#include "lib/converter/samples/sample_classes.h"
#include "lib/quantise/expected_results.h"

namespace nnapi_convert {
namespace {

bool may_have_classes(const CalibrationOptions& calibration, const CalibrationData& data) {
  return has_given_classes(calibration, data) || std::filesystem::is_directory(calibration.source);
}

// The outputs that tell classes. Where --labels names as many classes as one of several has, it is that one.
std::vector<quantise::ClassOutput> outputs_for(const nnapi::Model& model, size_t named) {
  std::vector<quantise::ClassOutput> outputs = quantise::class_outputs(model);
  if (outputs.size() < 2) return outputs;
  std::vector<quantise::ClassOutput> fitting;
  std::copy_if(outputs.begin(), outputs.end(), std::back_inserter(fitting),
               [&](const quantise::ClassOutput& output) { return output.classes == named; });
  return fitting.empty() ? outputs : fitting;
}

std::vector<quantise::ClassOutput> outputs_of(const CalibrationData& data, size_t named, const LoadedModel& loaded,
                                              const PlannedModel& planned) {
  if (planned.plan.is_whole()) return outputs_for(planned.plan.segments[0].part.model, named);
  const ExpectedResults first = expected_results(loaded, planned, {data.samples.front()});
  return outputs_for(model_of_results(first.results.front()), named);
}

}  // namespace

SampleTruth truth_of(const CalibrationOptions& calibration, const CalibrationData& data,
                     const std::vector<std::string>& class_names, const LoadedModel& loaded,
                     const PlannedModel& planned) {
  if (!may_have_classes(calibration, data)) return {};
  const std::vector<quantise::ClassOutput> outputs = outputs_of(data, class_names.size(), loaded, planned);
  if (outputs.size() != 1) {
    if (!has_given_classes(calibration, data)) return {};
    throw ConvertError(
        ExitCode::kUsage,
        fmt::format("{}: {} outputs of the model tell a class, one needed: a row of numbers for each sample, one for "
                    "each class; where there are several, --labels with as many names as its classes chooses one",
                    calibration.sample_labels.empty() ? "--calibrate " + calibration.source + ": labels in the list"
                                                      : "--sample-labels " + calibration.sample_labels,
                    outputs.size()));
  }
  SampleTruth truth;
  truth.output = outputs.front();
  KnownClasses known;
  if (truth.output.classes > 0) known.count = truth.output.classes;
  if (!known.count || *known.count == class_names.size()) known.names = class_names;
  SampleClasses found = classes_of(calibration, data, known);
  truth.classes = std::move(found.classes);
  truth.source = std::move(found.source);
  return truth;
}

}  // namespace nnapi_convert
