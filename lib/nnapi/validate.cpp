// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/begins_with.h"
#include "lib/base/counted.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/dump.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

bool have_unequal_scales(const Model& model, const Operation& operation) {
  const Operand& output = model.at(operation.outputs[0]);
  return std::any_of(operation.inputs.begin(), operation.inputs.end(), [&](OperandId id) {
    const Operand& input = model.at(id);
    return is_quant8(input.type) && (input.scale != output.scale || input.zero_point != output.zero_point);
  });
}

// Checks the relations between scales; returns an empty text if they hold.
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
  if (has_trait(operation.code, OperationTrait::kWeighted)) {
    const double bias = model.at(operation.inputs[2]).scale;
    if (std::abs(bias - product) > 1e-6 * std::max(bias, product)) {
      return fmt::format("argument bias: scale {} found, input scale times weight scale = {} needed", bias, product);
    }
  }
  const bool needs_smaller_product = operation.code == OperationCode::MUL ||
                                     (has_trait(operation.code, OperationTrait::kWeighted) && feature_level < 3);
  if (needs_smaller_product && !(static_cast<double>(output.scale) > product)) {
    return fmt::format("the output's scale {} found, more than the product of the input scales {} needed", output.scale,
                       product);
  }
  return "";
}

// Returns whether two operands agree as an operation and the model that it runs have to.
bool agree(const Operand& a, const Operand& b) {
  return a.type == b.type && a.dims == b.dims && a.scale == b.scale && a.zero_point == b.zero_point;
}

// The inputs or outputs of a subgraph, which are compared with the operation's operands from `first` on.
struct SubgraphSide {
  const char* what;
  const std::vector<Boundary>& found;
  const std::vector<OperandId>& operands;
  size_t first;
  bool may_have_more;  // outputs that only the next round of a loop reads
};

std::string side_problem(const Model& model, const Model& subgraph, const SubgraphSide& side) {
  const size_t needed = side.operands.size() - side.first;
  if (side.found.size() < needed || (side.found.size() > needed && !side.may_have_more)) {
    return fmt::format("a subgraph with {} {}s found, {} needed", side.found.size(), side.what, needed);
  }
  for (size_t i = 0; i < needed; ++i) {
    const Operand& operand = model.at(side.operands[side.first + i]);
    const Operand& own = subgraph.at(side.found[i].operand);
    if (agree(own, operand)) continue;
    return fmt::format("{} {} of a subgraph is {}, {} needed", side.what, i, type_text(own), type_text(operand));
  }
  return "";
}

// Checks the inputs and outputs of the subgraphs of IF and WHILE; returns an empty text if they fit.
std::string subgraph_problem(const Model& model, const Operation& operation) {
  const bool is_loop = operation.code == OperationCode::WHILE;
  if (!is_loop && operation.code != OperationCode::IF) return "";
  const size_t first_subgraph = is_loop ? 0 : 1;
  for (size_t i = first_subgraph; i < first_subgraph + 2; ++i) {
    const Subgraph* subgraph = model.at(operation.inputs[i]).subgraph();
    if (subgraph == nullptr) return fmt::format("argument {}: no subgraph found", i);
    const SubgraphSide inputs{"input", (*subgraph)->inputs, operation.inputs, first_subgraph + 2, false};
    const std::string problem = side_problem(model, **subgraph, inputs);
    if (!problem.empty()) return problem;
    const bool is_loop_condition = is_loop && i == 0;
    if (is_loop_condition) continue;
    const SubgraphSide outputs{"output", (*subgraph)->outputs, operation.outputs, 0, is_loop};
    const std::string output_problem = side_problem(model, **subgraph, outputs);
    if (!output_problem.empty()) return output_problem;
  }
  return "";
}

// Checks that NNAPI and the buffers can hold an operand's sizes: 0 stands for an unknown size, and sizes and the bytes
// of a tensor are 32-bit numbers. Sizes that depend on the inputs are not known here.
std::string size_problem(const Operand& operand) {
  constexpr int64_t kMostBytes = UINT32_MAX;
  if (!is_tensor(operand.type) || operand.is_omitted()) return "";
  int64_t bytes = element_size(operand.type);
  for (const Dim& dim : operand.dims) {
    const auto size = dim.fixed_value();
    if (!size) continue;
    if (*size < 1) return fmt::format("{} found, sizes of 1 or more needed", type_text(operand));
    if (*size > INT32_MAX || *size > kMostBytes / bytes) {
      return fmt::format("{} found, {} bytes at most needed", type_text(operand), kMostBytes);
    }
    bytes *= *size;
  }
  return "";
}

std::string size_problem(const Model& model, const Operation& operation) {
  for (const std::vector<OperandId>& operands : {operation.inputs, operation.outputs}) {
    for (const OperandId id : operands) {
      const std::string problem = size_problem(model.at(id));
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

// True for arguments that kernels divide by, and for sizes of windows.
bool is_at_least_one(const std::string& argument) {
  return begins_with(argument, "stride_") || begins_with(argument, "dilation_") || begins_with(argument, "filter_") ||
         argument == "groups" || argument == "depth_multiplier";
}

std::string window_problem(const Model& model, const Operation& operation, const SignatureInfo& signature) {
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    const ArgumentInfo& argument = argument_of_input(signature, i, operation.inputs.size());
    const Dims* numbers = model.at(operation.inputs[i]).ints();
    if (numbers == nullptr || !is_at_least_one(argument.name)) continue;
    for (const Dim& number : *numbers) {
      if (!number.is_fixed() || number.value() >= 1) continue;
      return fmt::format("argument {}: {} found, 1 or more needed", argument.name, number.value());
    }
  }
  return "";
}

std::string problem_of(const Model& model, const Operation& operation, int feature_level) {
  const std::string sizes = size_problem(model, operation);
  if (!sizes.empty()) return sizes;
  const SignatureMatch match = match_signature(model, operation);
  if (match.signature == nullptr) return match.problem;
  if (match.feature_level > feature_level) {
    return fmt::format("feature level {} found, {} needed for these arguments", feature_level, match.feature_level);
  }
  const std::string windows = window_problem(model, operation, *match.signature);
  if (!windows.empty()) return windows;
  const std::string problem = subgraph_problem(model, operation);
  return problem.empty() ? scale_problem(model, operation, feature_level) : problem;
}

// Validates one model; `place` stands before the number of each operation.
void validate_one(const Model& model, int feature_level, const std::string& place, std::vector<Violation>& found) {
  if (model.operations.empty()) {
    found.push_back({"", "", "", place.empty() ? "the model has no operation" : place + "no operation"});
  }
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const Operation& operation = model.operations[i];
    const std::string problem = problem_of(model, operation, feature_level);
    if (problem.empty()) continue;
    const std::string name = name_of(operation.code);
    found.push_back({fmt::format("{}operation {} ({})", place, i, name), name, operation.source, problem});
  }
}

bool runs_models(const Operation& operation) {
  return has_trait(operation.code, OperationTrait::kControlFlow);
}

// Checks that no operation reads an output in a way that makes Android's runtime abort. That runtime cuts a model with
// IF or WHILE into steps. It aborts the process if a step reads an output of the model that IF or WHILE wrote, or an
// output of a subgraph that another step wrote. The device decides which operations make a step, so no plain operation
// may read an output of its subgraph; IF and WHILE may.
void check_read_outputs(const Model& model, const std::string& place, std::vector<Violation>& found) {
  std::vector<const Operation*> writers(model.operands.size(), nullptr);
  std::vector<bool> is_read(model.operands.size(), false);
  for (const Operation& operation : model.operations) {
    for (const OperandId id : operation.outputs) writers[static_cast<size_t>(id)] = &operation;
    if (runs_models(operation)) continue;
    for (const OperandId id : operation.inputs) is_read[static_cast<size_t>(id)] = true;
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const auto id = static_cast<size_t>(model.outputs[i].operand);
    const Operation* writer = writers[id];
    if (writer == nullptr || !is_read[id] || !(model.is_subgraph || runs_models(*writer))) continue;
    found.push_back({"", name_of(writer->code), writer->source,
                     fmt::format("{}output {} is the result of {}, and an operation reads it; a copy needed for one of "
                                 "them, as Android's runtime aborts",
                                 place, i, name_of(writer->code))});
  }
}

// Checks that an operation computes the output: NNAPI takes no constant and no input as an output.
std::string output_problem(const Model& model, OperandId output) {
  if (model.at(output).is_constant()) return "is a constant";
  const bool is_input = std::any_of(model.inputs.begin(), model.inputs.end(),
                                    [output](const Boundary& input) { return input.operand == output; });
  return is_input ? "is an input of the model" : "";
}

}  // namespace

std::vector<Violation> violations(const Model& model, int feature_level) {
  std::vector<Violation> found;
  const std::vector<const Model*> models = with_subgraphs(model);
  for (size_t i = 0; i < models.size(); ++i) {
    const std::string place = i == 0 ? "" : fmt::format("subgraph {}: ", i);
    validate_one(*models[i], feature_level, place, found);
    check_read_outputs(*models[i], place, found);
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const std::string problem = output_problem(model, model.outputs[i].operand);
    if (!problem.empty()) found.push_back({"", "", "", fmt::format("output {} {}", i, problem)});
  }
  return found;
}

namespace {

// Returns the operation with its source line; empty for a violation that is not an operation's.
std::string where(const Violation& violation) {
  const std::string source = violation.source.empty() ? "" : fmt::format(" from {}", violation.source);
  return violation.place.empty() ? "" : violation.place + source;
}

std::string sentence(const std::string& where, const std::string& problem) {
  return where.empty() ? problem : fmt::format("{}: {}", where, problem);
}

}  // namespace

std::vector<std::string> validate(const Model& model, int feature_level) {
  std::vector<std::string> sentences;
  for (const Violation& each : violations(model, feature_level))
    sentences.push_back(sentence(where(each), each.problem));
  return sentences;
}

std::vector<std::string> summary_of(const std::vector<Violation>& violations) {
  struct Group {
    Violation first;
    size_t others = 0;
  };
  std::vector<Group> groups;
  for (const Violation& violation : violations) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return !violation.place.empty() && group.first.problem == violation.problem;
    });
    if (same != groups.end()) {
      ++same->others;
    } else {
      groups.push_back({violation});
    }
  }
  std::vector<std::string> sentences;
  for (const Group& group : groups) {
    const std::string others = group.others > 0 ? " and " + counted(group.others, "other") : "";
    sentences.push_back(sentence(where(group.first) + others, group.first.problem));
  }
  return sentences;
}

int64_t element_size(OperandCode type) {
  switch (type) {
    case OperandCode::TENSOR_FLOAT32:
    case OperandCode::TENSOR_INT32:
      return 4;
    case OperandCode::TENSOR_FLOAT16:
    case OperandCode::TENSOR_QUANT16_SYMM:
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return 2;
    default:
      return 1;
  }
}

int required_feature_level(const Model& model) {
  int level = 1;
  for (const Model* each : with_subgraphs(model)) {
    for (const Operation& operation : each->operations) {
      level = std::max(level, static_cast<int>(match_signature(*each, operation).feature_level));
    }
  }
  return level;
}

}  // namespace nnapi_convert::nnapi
