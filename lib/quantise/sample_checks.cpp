#include "lib/quantise/sample_checks.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/quantise/forms.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;

// Says where a tensor comes from.
std::string origin_of(const Model& model, const nnapi::Uses& uses, size_t operand) {
  const std::string& name = model.operands[operand].name;
  const std::string value = name.empty() ? "a tensor" : "%" + name;
  if (uses.producer[operand] < 0) return value;
  const nnapi::Operation& operation = model.operations[static_cast<size_t>(uses.producer[operand])];
  return fmt::format("{}, the result of {},", value, text_of(operation));
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
        input.argument, histogram.lowest()));
  }
}

}  // namespace nnapi_convert::quantise
