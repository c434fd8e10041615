// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/check_tolerance.h"

#include <algorithm>
#include <cmath>

#include "lib/format/operation_table.h"

namespace nnapi_convert {
namespace {

// Share of an output's range: ten times the tolerance of the host's NNAPI, as drivers add up in other orders, and
// transform convolutions.
constexpr double kOfRange = 1e-3;
// Share of the range in half precision: float16 has 11 bits. The error of a net of n operations is taken to grow like
// the root of n, as random errors add up.
constexpr double kOfHalf = 4.0 / 2048;
// Correct devices may differ by one step per quantised operation. Measured: MobileNetV2 (65 operations) differs by up
// to 29 steps, mean 5.6, between NNAPI's results and those of another library.
constexpr double kSteps = 2, kMoreSteps = 6, kMeanSteps = 1, kMoreMeanSteps = 1.5;
// Shares of the range for outputs that are chosen, as by argmax, not computed: some may differ where two candidates are
// near each other. Quantised candidates are often equal: the order of the best 80 of 3,000 tells nothing of the device.
constexpr double kOfChoices = 0.1, kOfTiedChoices = 1;
// Another choice may give numbers beyond the sample's range: they may differ by this many ranges.
constexpr double kMostOfOtherChoice = 2;

const InterfaceOutput* output_of(const NnapiPart& part, size_t number) {
  for (const InterfaceOutput& output : part.interface.outputs) {
    if (output.source == InterfaceOutput::Source::kNnapi && output.index == number) return &output;
  }
  return nullptr;
}

bool is_float(const nnapi::Operand& operand) {
  return operand.type == OperandCode::TENSOR_FLOAT32 || operand.type == OperandCode::TENSOR_FLOAT16;
}

// Returns whether weights were rounded to float16: TorchScript's were not.
bool has_rounded_weights(const nnapi::Model& model) {
  return std::any_of(model.operands.begin(), model.operands.end(), [](const nnapi::Operand& operand) {
    return operand.constant() != nullptr && operand.constant()->type() == nnapi::DataType::kFloat16;
  });
}

bool has_float(const nnapi::Model& model) {
  return std::any_of(model.operands.begin(), model.operands.end(),
                     [](const nnapi::Operand& operand) { return !operand.is_constant() && is_float(operand); });
}

CheckTolerance of_steps(size_t operations, double step) {
  const double root = std::sqrt(static_cast<double>(operations) - 1);
  return {step * (kSteps + kMoreSteps * root), step * (kMeanSteps + kMoreMeanSteps * root)};
}

}  // namespace

size_t quantised_operations(const nnapi::Model& model) {
  size_t count = 0;
  for (const nnapi::Operation& operation : model.operations) {
    count += nnapi::is_quant8(model.at(operation.outputs[0]).type) ? 1 : 0;
  }
  return count;
}

bool is_chosen(const nnapi::Model& model, size_t number) {
  const auto gives_places = [](const nnapi::Operation& operation) {
    return has_trait(operation.code, OperationTrait::kGivesPlaces);
  };
  std::vector<bool> chosen(model.operands.size(), false);
  for (const nnapi::Operation& operation : model.operations) {
    const bool is_of_chosen = gives_places(operation) || std::any_of(operation.inputs.begin(), operation.inputs.end(),
                                                                     [&](nnapi::OperandId id) { return chosen[id]; });
    if (operation.code == OperationCode::TOPK_V2) chosen[operation.outputs[1]] = true;
    for (const nnapi::OperandId id : operation.outputs) chosen[id] = chosen[id] || is_of_chosen;
  }
  return chosen[model.outputs[number].operand];
}

bool is_computed_of_floats(const NnapiPart& part, size_t number) {
  const InterfaceOutput* output = output_of(part, number);
  return is_float(part.model.at(part.model.outputs[number].operand)) &&
         (output == nullptr || output->quantization.scale == 0);
}

CheckTolerance check_tolerance(const NnapiPart& part, size_t number, bool relaxed, double lowest, double highest,
                               Candidates candidates) {
  const nnapi::Operand& operand = part.model.at(part.model.outputs[number].operand);
  const double range = highest - lowest;
  const size_t quantised = quantised_operations(part.model);
  const bool is_computed = is_float(operand) || nnapi::is_quant8(operand.type);
  if (!is_computed) {
    if (quantised == 0 && !has_float(part.model)) return {};
    const bool is_tied = quantised > 0 || candidates == Candidates::kNear;
    return {range, (is_tied ? kOfTiedChoices : kOfChoices) * range};
  }
  if (candidates != Candidates::kNone) {
    const double most = kMostOfOtherChoice * range;
    return {most, candidates == Candidates::kNear ? most : kOfChoices * range};
  }
  if (quantised > 0) {
    const InterfaceOutput* output = output_of(part, number);
    const double scale = output != nullptr && output->quantization.scale > 0 ? output->quantization.scale : range / 255;
    return of_steps(quantised, is_float(operand) ? scale : 1);
  }
  // Outputs in a narrow range carry the rounding errors of their magnitude.
  const double unit = std::max(range, 0.1 * std::max(std::abs(lowest), std::abs(highest)));
  const double depth = std::sqrt(static_cast<double>(part.model.operations.size()));
  const bool is_half = relaxed || has_rounded_weights(part.model);
  const double share = is_half ? std::max(kOfRange, kOfHalf * depth) : kOfRange;
  return {share * unit, share * unit};
}

}  // namespace nnapi_convert
