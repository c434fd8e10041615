// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/package_boundaries.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/format/operation_table.h"
#include "lib/serialize/shim_source.h"

namespace nnapi_convert {
namespace {

using Members = std::vector<const Conversion*>;
using Boundaries = std::vector<nnapi::Boundary> nnapi::Model::*;

const nnapi::Model& model_of(const Conversion& member) {
  return member.segments[0].model;
}

bool is_8_bit(OperandCode type) {
  return type == OperandCode::TENSOR_QUANT8_ASYMM || type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
}

// True if some member has floats for the tensor: callers then see floats.
bool is_float_in_one(const Members& members, Boundaries boundaries, size_t number) {
  return std::any_of(members.begin(), members.end(), [&](const Conversion* member) {
    const nnapi::Model& model = model_of(*member);
    const std::vector<nnapi::Boundary>& found = model.*boundaries;
    return number < found.size() && model.at(found[number].operand).type == OperandCode::TENSOR_FLOAT32;
  });
}

// True if the shim converts between callers' floats and this member's 8-bit integers.
bool is_converted(const Members& members, const Conversion& member) {
  const nnapi::Model& model = model_of(member);
  for (const Boundaries boundaries : {&nnapi::Model::inputs, &nnapi::Model::outputs}) {
    const std::vector<nnapi::Boundary>& found = model.*boundaries;
    for (size_t i = 0; i < found.size(); ++i) {
      if (is_8_bit(model.at(found[i].operand).type) && is_float_in_one(members, boundaries, i)) return true;
    }
  }
  return false;
}

// Describes an input or an output as callers see it, without its sizes.
std::string boundary_text(const nnapi::Model& model, const nnapi::Boundary& boundary, bool is_float) {
  const nnapi::Operand& operand = model.at(boundary.operand);
  const bool is_converted = is_float && is_8_bit(operand.type);
  std::string text = name_of(is_converted ? OperandCode::TENSOR_FLOAT32 : operand.type);
  if (operand.scale != 0 && !is_converted) {
    text += fmt::format(" of scale {} and zero point {}", operand.scale, operand.zero_point);
  }
  return text + fmt::format(", rank {}{}", operand.dims.size(), boundary.nhwc ? ", NHWC" : "");
}

// Returns how a member's inputs or outputs differ from the first member's; empty if callers see the same.
std::string difference(const Members& members, size_t number, const char* what, Boundaries boundaries) {
  const nnapi::Model &first = model_of(*members[0]), &model = model_of(*members[number]);
  const auto &needed = first.*boundaries, &found = model.*boundaries;
  if (needed.size() != found.size()) {
    return fmt::format("it has {} {}s, model 1 has {}", found.size(), what, needed.size());
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    const bool is_float = is_float_in_one(members, boundaries, i);
    const std::string one = boundary_text(first, needed[i], is_float), other = boundary_text(model, found[i], is_float);
    if (one == other) continue;
    const bool are_integers = is_8_bit(first.at(needed[i].operand).type) && is_8_bit(model.at(found[i].operand).type);
    return fmt::format(
        "{} {} is {}, and {} in model 1; all models of a package need the same, as the app doesn't know "
        "which one runs{}",
        what, i, other, one,
        are_integers ? ": add a float model, such as level=3, whose floats the app then passes to all" : "");
  }
  return "";
}

void make_floats(nnapi::Model& model, const std::vector<nnapi::Boundary>& boundaries) {
  for (const nnapi::Boundary& boundary : boundaries) {
    nnapi::Operand& operand = model.at(boundary.operand);
    if (!is_8_bit(operand.type)) continue;
    operand.type = OperandCode::TENSOR_FLOAT32;
    operand.scale = 0;
    operand.zero_point = 0;
  }
}

// Returns what TorchScript does before and after NNAPI besides quantising, as the source of a module around floats.
std::string float_source(const Conversion& member) {
  nnapi::Model model;  // without its operations
  model.operands = model_of(member).operands;
  model.inputs = model_of(member).inputs;
  model.outputs = model_of(member).outputs;
  make_floats(model, model.inputs);
  make_floats(model, model.outputs);
  ModuleInterface interface = member.interface;
  for (InterfaceInput& input : interface.inputs) {
    if (c10::isQIntType(input.type.dtype)) input.type.dtype = at::kFloat;
    input.type.quantization = {};
    input.quantize.reset();
  }
  for (InterfaceOutput& output : interface.outputs) {
    if (c10::isQIntType(output.dtype)) output.dtype = at::kFloat;
    output.quantization = {};
    output.dequantize = false;
  }
  return shim_source({model, interface, "", ""});
}

std::string reason_against(const Members& members, size_t number) {
  const Conversion& member = *members[number];
  if (!member.is_whole) return "a part of it stays on the CPU; packages hold whole models";
  if (number == 0) return "";
  for (const auto& [what, boundaries] :
       {std::pair("input", &nnapi::Model::inputs), std::pair("output", &nnapi::Model::outputs)}) {
    const std::string found = difference(members, number, what, boundaries);
    if (!found.empty()) return found;
  }
  if (float_source(member) == float_source(*members[0])) return "";
  return "what TorchScript does before and after NNAPI differs from model 1; all models of a package need the same";
}

std::optional<size_t> first_unconverted(const Members& members) {
  for (size_t i = 0; i < members.size(); ++i) {
    if (!is_converted(members, *members[i])) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MemberRefusal> package_refusal(const Members& members) {
  for (size_t i = 0; i < members.size(); ++i) {
    std::string reason = reason_against(members, i);
    if (!reason.empty()) return MemberRefusal{i, std::move(reason)};
  }
  if (first_unconverted(members)) return std::nullopt;
  return MemberRefusal{0,
                       "as each of the models, it has 8-bit integers where another one has floats; add a model whose "
                       "inputs and outputs all are floats, such as level=3"};
}

size_t member_that_callers_see(const Members& members) {
  return first_unconverted(members).value();
}

}  // namespace nnapi_convert
