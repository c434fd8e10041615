#include "lib/nnapi/dump.h"

#include <fmt/format.h>

#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

struct ValueText {
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
};

std::string operand_text(const Model& model, OperandId id) {
  const Operand& operand = model.at(id);
  const std::string value = std::visit(ValueText{}, operand.value);
  if (operand.constant() != nullptr) return fmt::format("{} {}", value, type_text(operand));
  return value.empty() ? fmt::format("%{}", id) : value;
}

std::string boundary_text(const Model& model, const Boundary& boundary) {
  return fmt::format("%{}: {}{}", boundary.operand, type_text(model.at(boundary.operand)),
                     boundary.nhwc ? " nhwc" : "");
}

std::string operation_text(const Model& model, const Operation& operation) {
  std::string text = "  ";
  for (const OperandId id : operation.outputs) {
    if (text.size() > 2) text += ", ";
    text += fmt::format("%{}: {}", id, type_text(model.at(id)));
  }
  text += fmt::format(" = {}(", name_of(operation.code));
  const SignatureMatch match = match_signature(model, operation);
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    if (i > 0) text += ", ";
    if (match.signature != nullptr) {
      text += argument_of_input(*match.signature, i, operation.inputs.size()).name + std::string("=");
    }
    text += operand_text(model, operation.inputs[i]);
  }
  return text + ")\n";
}

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
  std::string text = "inputs\n";
  for (const Boundary& input : model.inputs) text += "  " + boundary_text(model, input) + "\n";
  text += "operations\n";
  for (const Operation& operation : model.operations) text += operation_text(model, operation);
  text += "outputs\n";
  for (const Boundary& output : model.outputs) text += "  " + boundary_text(model, output) + "\n";
  return text;
}

}  // namespace nnapi_convert::nnapi
