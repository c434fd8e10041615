// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/uneven_joints.h"

#include <algorithm>
#include <optional>

#include "lib/nnapi/integer_forms.h"
#include "lib/quantise/range.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

// Returns by operation whether its results reach an output without passing weights.
std::vector<bool> lead_to_outputs(const Model& model) {
  std::vector<bool> is_read(model.operands.size(), false), result(model.operations.size(), false);
  for (const nnapi::Boundary& output : model.outputs) is_read[static_cast<size_t>(output.operand)] = true;
  for (size_t i = model.operations.size(); i-- > 0;) {
    const Operation& operation = model.operations[i];
    result[i] = std::any_of(operation.outputs.begin(), operation.outputs.end(),
                            [&](OperandId id) { return is_read[static_cast<size_t>(id)]; });
    const bool has_products = nnapi::form_of(operation.code) == nnapi::IntegerForm::kWeighted ||
                              operation.code == OperationCode::BATCH_MATMUL;
    if (!result[i] || has_products) continue;
    for (const OperandId id : operation.inputs) is_read[static_cast<size_t>(id)] = true;
  }
  return result;
}

// Returns the width of a tensor's range; nothing if it is always 0 or was not measured.
std::optional<double> width_of(const Model& model, OperandId id, const Observations& observations) {
  const nnapi::Operand& operand = model.at(id);
  if (operand.type != OperandCode::TENSOR_FLOAT32) return std::nullopt;
  Range range;
  if (operand.constant() != nullptr) {
    range = range_of(operand.constant()->floats());
  } else {
    const Histogram& values = observations.histograms[static_cast<size_t>(id)];
    if (values.empty()) return std::nullopt;
    range = range_of(values, RangeMethod::kMinMax);
  }
  const double width = range.highest - range.lowest;
  return width > 0 ? std::optional(width) : std::nullopt;
}

double unevenness(const Model& model, const Operation& operation, const Observations& observations) {
  std::optional<double> least, most;
  for (const OperandId id : operation.inputs) {
    const auto width = width_of(model, id, observations);
    if (!width) continue;
    least = std::min(least.value_or(*width), *width);
    most = std::max(most.value_or(*width), *width);
  }
  return least ? *most / *least : 0;
}

}  // namespace

std::vector<double> uneven_joints(const Model& model, const Observations& observations) {
  std::vector<double> result(model.operations.size(), 0);
  const std::vector<bool> is_last = lead_to_outputs(model);
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation& operation = model.operations[i];
    if (operation.code != OperationCode::CONCATENATION || !is_last[i]) continue;
    const double times = unevenness(model, operation, observations);
    if (times >= kUneven) result[i] = times;
  }
  return result;
}

}  // namespace nnapi_convert::quantise
