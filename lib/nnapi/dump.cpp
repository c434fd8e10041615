// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/dump.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

struct ValueText {
  const std::vector<const Model*>& models;  // all models, in the order of their numbers

  std::string operator()(const std::monostate&) const { return ""; }
  std::string operator()(const Omitted&) const { return "omitted"; }
  std::string operator()(const Dims& values) const {
    return values.size() == 1 ? values[0].text() : nnapi_convert::to_text(values);
  }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const Constant& constant) const {
    const std::string recipe = constant.recipe_text();
    return recipe.empty() ? "const" : fmt::format("const {{{}}}", recipe);
  }
  std::string operator()(const Subgraph& subgraph) const {
    return fmt::format("subgraph {}", std::find(models.begin(), models.end(), subgraph.get()) - models.begin());
  }
};

std::string boundary_text(const Model& model, const Boundary& boundary) {
  return fmt::format("%{}: {}{}", boundary.operand, type_text(model.at(boundary.operand)),
                     boundary.nhwc ? " nhwc" : "");
}

// Writes one model.
class ModelText {
 public:
  ModelText(const Model& model, const std::vector<const Model*>& models) : model_(model), values_{models} {}

  std::string text() const {
    std::string text = "inputs\n";
    for (const Boundary& input : model_.inputs) text += "  " + boundary_text(model_, input) + "\n";
    text += "operations\n";
    for (const Operation& operation : model_.operations) text += operation_text(operation);
    text += "outputs\n";
    for (const Boundary& output : model_.outputs) text += "  " + boundary_text(model_, output) + "\n";
    return text;
  }

 private:
  std::string operand_text(OperandId id) const {
    const Operand& operand = model_.at(id);
    const std::string value = std::visit(values_, operand.value);
    if (operand.constant() != nullptr) return fmt::format("{} {}", value, type_text(operand));
    return value.empty() ? fmt::format("%{}", id) : value;
  }

  std::string operation_text(const Operation& operation) const {
    std::string text = "  ";
    for (const OperandId id : operation.outputs) {
      if (text.size() > 2) text += ", ";
      text += fmt::format("%{}: {}", id, type_text(model_.at(id)));
    }
    text += fmt::format(" = {}(", name_of(operation.code));
    const SignatureMatch match = match_signature(model_, operation);
    bool is_first = true;
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      if (model_.at(operation.inputs[i]).is_omitted()) continue;
      if (!is_first) text += ", ";
      is_first = false;
      if (match.signature != nullptr) {
        text += argument_of_input(*match.signature, i, operation.inputs.size()).name + std::string("=");
      }
      text += operand_text(operation.inputs[i]);
    }
    return text + ")\n";
  }

  const Model& model_;
  ValueText values_;
};

}  // namespace

std::string type_text(const Operand& operand) {
  std::string text = fmt::format("{}{}", name_of(operand.type), nnapi_convert::to_text(operand.dims));
  if (is_quant8(operand.type) || operand.scale != 0) {
    text += fmt::format(" scale {} zero_point {}", operand.scale, operand.zero_point);
  }
  if (operand.channels != nullptr) {
    text += fmt::format(" {} scales along {}", operand.channels->scales.size(), operand.channels->axis);
  }
  return text;
}

std::string to_text(const Model& model) {
  const std::vector<const Model*> models = with_subgraphs(model);
  std::string text;
  for (size_t i = 0; i < models.size(); ++i) {
    if (i > 0) text += fmt::format("subgraph {}\n", i);
    text += ModelText(*models[i], models).text();
  }
  return text;
}

}  // namespace nnapi_convert::nnapi
