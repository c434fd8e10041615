#include "lib/nnapi/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

bool has_weights_and_bias(OperationCode code) {
  return code == OperationCode::CONV_2D || code == OperationCode::DEPTHWISE_CONV_2D ||
         code == OperationCode::GROUPED_CONV_2D || code == OperationCode::TRANSPOSE_CONV_2D ||
         code == OperationCode::FULLY_CONNECTED;
}

bool have_unequal_scales(const Model& model, const Operation& operation) {
  const Operand& output = model.at(operation.outputs[0]);
  return std::any_of(operation.inputs.begin(), operation.inputs.end(), [&](OperandId id) {
    const Operand& input = model.at(id);
    return is_quant8(input.type) && (input.scale != output.scale || input.zero_point != output.zero_point);
  });
}

// Relations between scales; empty if they hold.
std::string scale_problem(const Model& model, const Operation& operation, int feature_level) {
  const Operand& first = model.at(operation.inputs[0]);
  const Operand& output = model.at(operation.outputs[0]);
  if (!is_quant8(first.type) || operation.inputs.size() < 2) return "";
  if (operation.code == OperationCode::CONCATENATION && feature_level < 3 && have_unequal_scales(model, operation)) {
    return "unequal scales found, equal ones needed below feature level 3";
  }
  if (model.at(operation.inputs[1]).channels != nullptr) {
    const float bias = model.at(operation.inputs[2]).scale;
    return bias == 0 ? "" : fmt::format("argument bias: scale {} found, 0 needed for weights per channel", bias);
  }
  const double product = static_cast<double>(first.scale) * model.at(operation.inputs[1]).scale;
  if (has_weights_and_bias(operation.code)) {
    const double bias = model.at(operation.inputs[2]).scale;
    if (std::abs(bias - product) > 1e-6 * std::max(bias, product)) {
      return fmt::format("argument bias: scale {} found, input scale times weight scale = {} needed", bias, product);
    }
  }
  const bool needs_smaller_product =
      operation.code == OperationCode::MUL || (has_weights_and_bias(operation.code) && feature_level < 3);
  if (needs_smaller_product && !(static_cast<double>(output.scale) > product)) {
    return fmt::format("the output's scale {} found, more than the product of the input scales {} needed", output.scale,
                       product);
  }
  return "";
}

std::string problem_of(const Model& model, const Operation& operation, int feature_level) {
  const SignatureMatch match = match_signature(model, operation);
  if (match.signature == nullptr) return match.problem;
  if (match.feature_level > feature_level) {
    return fmt::format("feature level {} found, {} needed for these arguments", feature_level, match.feature_level);
  }
  return scale_problem(model, operation, feature_level);
}

// An output has to be computed: NNAPI takes no constants and no inputs there.
std::string output_problem(const Model& model, OperandId output) {
  if (model.at(output).is_constant()) return "is a constant";
  const bool is_input = std::any_of(model.inputs.begin(), model.inputs.end(),
                                    [output](const Boundary& input) { return input.operand == output; });
  return is_input ? "is an input of the model" : "";
}

}  // namespace

std::vector<std::string> validate(const Model& model, int feature_level) {
  std::vector<std::string> problems;
  if (model.operations.empty()) problems.emplace_back("the model has no operation");
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation& operation = model.operations[i];
    const std::string problem = problem_of(model, operation, feature_level);
    if (problem.empty()) continue;
    const std::string source = operation.source.empty() ? "" : fmt::format(" from {}", operation.source);
    problems.push_back(fmt::format("operation {} ({}){}: {}", i, name_of(operation.code), source, problem));
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const std::string problem = output_problem(model, model.outputs[i].operand);
    if (!problem.empty()) problems.push_back(fmt::format("output {} {}", i, problem));
  }
  return problems;
}

int required_feature_level(const Model& model) {
  int level = 1;
  for (const Operation& operation : model.operations) {
    level = std::max(level, static_cast<int>(match_signature(model, operation).feature_level));
  }
  return level;
}

}  // namespace nnapi_convert::nnapi
