// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/sample_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/converter/samples/sample_classes.h"
#include "lib/quantise/expected_results.h"

namespace nnapi_convert {
namespace {

bool may_have_classes(const CalibrationOptions& calibration, const CalibrationData& data) {
  return has_given_classes(calibration, data) || std::filesystem::is_directory(calibration.source);
}

// Returns whether users expect an accuracy: nothing else judges the results, and the data are no random numbers.
bool is_accuracy_missed(const CalibrationOptions& calibration) {
  return calibration.sample_boxes.empty() && calibration.metric_command.empty() &&
         calibration.source.rfind("random:", 0) != 0;
}

// Returns the outputs that tell classes. If --labels names as many classes as one of several outputs has, only that
// one.
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

// Returns why there is no accuracy for samples whose classes are not known; empty if users don't expect one.
std::string unknown_classes(const CalibrationOptions& calibration, size_t outputs) {
  if (!is_accuracy_missed(calibration)) return "";
  if (outputs == 1) {
    return fmt::format("no accuracy: the samples' classes are not known: no --sample-labels{}",
                       std::filesystem::is_directory(calibration.source) ? ", and no folder for each class" : "");
  }
  return fmt::format("no accuracy: {} of the model tell a class; --metric or --sample-boxes measures other results",
                     outputs == 0 ? "no results" : counted(outputs, "result"));
}

}  // namespace

SampleTruth truth_of(const CalibrationOptions& calibration, const CalibrationData& data,
                     const std::vector<std::string>& class_names, const LoadedModel& loaded,
                     const PlannedModel& planned) {
  if (!may_have_classes(calibration, data) && !is_accuracy_missed(calibration)) return {};
  const std::vector<quantise::ClassOutput> outputs = outputs_of(data, class_names.size(), loaded, planned);
  if (outputs.size() != 1) {
    if (!has_given_classes(calibration, data)) return {{}, {}, unknown_classes(calibration, outputs.size())};
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
  if (!truth.has_classes() && truth.source.empty()) truth.source = unknown_classes(calibration, outputs.size());
  return truth;
}

}  // namespace nnapi_convert
