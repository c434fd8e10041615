#include "lib/converter/emit/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/serialize/package_writer.h"
#include "lib/serialize/shim_emitter.h"
#include "lib/serialize/shim_source.h"
#include "lib/shim/torch_binding.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void refuse(size_t number, const PackageMember& member, const std::string& reason) {
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("--package: model {} ({}): {}", number + 1, member.name, reason));
}

const nnapi::Model& model_of(const PackageMember& member) {
  return member.conversion.segments[0].model;
}

using Boundaries = std::vector<nnapi::Boundary> nnapi::Model::*;

bool is_8_bit(OperandCode type) {
  return type == OperandCode::TENSOR_QUANT8_ASYMM || type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
}

// Whether the shim's callers see a tensor as floats: where one model has floats, the shim converts for those that have
// 8-bit integers (lib/shim/float_boundary.h).
bool is_float_in_one(const std::vector<PackageMember>& members, Boundaries boundaries, size_t number) {
  return std::any_of(members.begin(), members.end(), [&](const PackageMember& member) {
    const nnapi::Model& model = model_of(member);
    const std::vector<nnapi::Boundary>& found = model.*boundaries;
    return number < found.size() && model.at(found[number].operand).type == OperandCode::TENSOR_FLOAT32;
  });
}

bool is_converted(const std::vector<PackageMember>& members, const PackageMember& member) {
  const nnapi::Model& model = model_of(member);
  for (const Boundaries boundaries : {&nnapi::Model::inputs, &nnapi::Model::outputs}) {
    const std::vector<nnapi::Boundary>& found = model.*boundaries;
    for (size_t i = 0; i < found.size(); ++i) {
      if (is_8_bit(model.at(found[i].operand).type) && is_float_in_one(members, boundaries, i)) return true;
    }
  }
  return false;
}

// What the shim's callers see of an input or an output, besides its sizes.
std::string boundary_text(const nnapi::Model& model, const nnapi::Boundary& boundary, bool is_float) {
  const nnapi::Operand& operand = model.at(boundary.operand);
  const bool is_converted = is_float && is_8_bit(operand.type);
  std::string text = name_of(is_converted ? OperandCode::TENSOR_FLOAT32 : operand.type);
  if (operand.scale != 0 && !is_converted) {
    text += fmt::format(" of scale {} and zero point {}", operand.scale, operand.zero_point);
  }
  return text + fmt::format(", rank {}{}", operand.dims.size(), boundary.nhwc ? ", NHWC" : "");
}

void check_boundaries(const std::vector<PackageMember>& members, size_t number, const char* what,
                      Boundaries boundaries) {
  const nnapi::Model& first = model_of(members[0]);
  const nnapi::Model& model = model_of(members[number]);
  const auto& needed = first.*boundaries;
  const auto& found = model.*boundaries;
  if (needed.size() != found.size()) {
    refuse(number, members[number], fmt::format("it has {} {}s, model 1 has {}", found.size(), what, needed.size()));
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    const bool is_float = is_float_in_one(members, boundaries, i);
    const std::string one = boundary_text(first, needed[i], is_float), other = boundary_text(model, found[i], is_float);
    if (one == other) continue;
    refuse(number, members[number],
           fmt::format("{} {} is {}, and {} in model 1; all models of a package need the same, as the app doesn't know "
                       "which one runs: add a float model, whose floats the app then passes to all of them",
                       what, i, other, one));
  }
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

// What TorchScript does before and after NNAPI, besides quantising: the source of a module around floats.
std::string float_source(const Conversion& conversion) {
  nnapi::Model model = conversion.segments[0].model;
  make_floats(model, std::vector(model.inputs));
  make_floats(model, std::vector(model.outputs));
  ModuleInterface interface = conversion.interface;
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

void check_member(const std::vector<PackageMember>& members, size_t number) {
  const PackageMember& member = members[number];
  if (!member.conversion.is_whole) refuse(number, member, "a part of it stays on the CPU; packages hold whole models");
  if (number == 0) return;
  check_boundaries(members, number, "input", &nnapi::Model::inputs);
  check_boundaries(members, number, "output", &nnapi::Model::outputs);
  if (member.conversion.segments[0].shim_source == members[0].conversion.segments[0].shim_source) return;
  if (float_source(member.conversion) == float_source(members[0].conversion)) return;
  refuse(number, member,
         "what TorchScript does before and after NNAPI differs from model 1; all models of a package need the same");
}

// The first member whose module passes what callers see.
size_t base_of(const std::vector<PackageMember>& members) {
  for (size_t i = 0; i < members.size(); ++i) {
    if (!is_converted(members, members[i])) return i;
  }
  throw ConvertError(ExitCode::kNotConvertible,
                     "--package: each model has 8-bit integers where another one has floats; add a model whose inputs "
                     "and outputs all are floats, such as level=3");
}

VariantSummary variant_of(const PackageMember& member, const PackagePlace& place) {
  const Conversion& conversion = member.conversion;
  VariantSummary summary;
  summary.name = member.name;
  summary.quant = conversion.quant;
  summary.feature_level = conversion.feature_level();
  summary.operations = conversion.segments[0].model.operations.size();
  summary.buffer_bytes = 4 * place.word_count;
  for (const PlacedWeight& weight : conversion.segments[0].shim->weights)
    summary.weight_bytes += weight.value.byte_count();
  summary.own_bytes = place.own_bytes;
  for (const InterfaceInput& input : conversion.interface.inputs) summary.sizes.push_back(input.type.dims);
  summary.recorded_options = conversion.recorded_options;
  return summary;
}

}  // namespace

Conversion make_package(std::vector<PackageMember> members) {
  std::vector<NamedBuffer> buffers;
  for (size_t i = 0; i < members.size(); ++i) check_member(members, i);
  const size_t base = base_of(members);
  for (size_t i = 0; i < members.size(); ++i) {
    buffers.push_back({members[i].name, *members[i].conversion.segments[0].shim});
  }
  PackageBuffer package = write_package(buffers);
  std::vector<VariantSummary> variants;
  for (size_t i = 0; i < members.size(); ++i) variants.push_back(variant_of(members[i], package.places[i]));
  Conversion result = std::move(members[base].conversion);
  members.clear();
  result.segments[0].shim.reset();
  result.variants = std::move(variants);
  result.buffer_bytes = 4 * package.words.size();
  result.weight_bytes = package.weight_bytes;
  // The model's own weights are late tensors of no module any more.
  result.late = std::make_shared<DeferredTensors>();
  set_package(result.module, std::move(package), nnapi_shim::make_compilation, *result.late);
  return result;
}

}  // namespace nnapi_convert
