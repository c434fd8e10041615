// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/sample_checks.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/nnapi/integer_forms.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;

// Returns a text on where a tensor comes from.
std::string origin_of(const Model& model, const nnapi::Uses& uses, size_t operand) {
  const std::string& name = model.operands[operand].name;
  const std::string value = name.empty() ? "a tensor" : "%" + name;
  if (uses.producer[operand] < 0) return value;
  const nnapi::Operation& operation = model.operations[static_cast<size_t>(uses.producer[operand])];
  return fmt::format("{}, the result of {},", value, text_of(operation));
}

// Warns of outputs that are NaN or infinite in float: such elements have no distance from float.
void warn_of_results(const Model& model, const Observations& observations, std::vector<std::string>& warnings) {
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const Histogram& histogram = observations.histograms[static_cast<size_t>(model.outputs[i].operand)];
    if (histogram.not_finite() == 0) continue;
    const auto odd = static_cast<double>(histogram.not_finite()), numbers = static_cast<double>(histogram.count());
    warnings.push_back(
        fmt::format("calibration: {:.2g}% of the float model's output {} is NaN or infinite: these elements are left "
                    "out of the distance from float",
                    100 * odd / (odd + numbers), i));
  }
}

}  // namespace

void check_samples(const Model& model, const Observations& observations, std::vector<std::string>& warnings) {
  for (size_t i = 0; i < observations.histograms.size(); ++i) {
    const Histogram& histogram = observations.histograms[i];
    if (!histogram.empty() || histogram.not_finite() == 0) continue;
    throw ConvertError(
        ExitCode::kBadFile,
        fmt::format("--calibrate: {} has no finite value in any sample; give samples for which the float "
                    "model computes numbers",
                    origin_of(model, nnapi::Uses(model), i)));
  }
  for (const nnapi::Boundary& input : model.inputs) {
    const Histogram& histogram = observations.histograms[static_cast<size_t>(input.operand)];
    if (histogram.empty() || histogram.lowest() < histogram.highest()) continue;
    warnings.push_back(fmt::format(
        "calibration: input {} is {} everywhere in all samples: the scales fit nothing else; give real inputs",
        input.argument, histogram.lowest() + 0.0f));  // -0 is 0
  }
  warn_of_results(model, observations, warnings);
}

}  // namespace nnapi_convert::quantise
