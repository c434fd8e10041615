#include "lib/converter/emit/package.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/serialize/package_writer.h"
#include "lib/serialize/shim_emitter.h"
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

// What the shim's callers see of an input or an output, besides its sizes.
std::string boundary_text(const nnapi::Model& model, const nnapi::Boundary& boundary) {
  const nnapi::Operand& operand = model.at(boundary.operand);
  std::string text = name_of(operand.type);
  if (operand.scale != 0) text += fmt::format(" of scale {} and zero point {}", operand.scale, operand.zero_point);
  return text + fmt::format(", rank {}{}", operand.dims.size(), boundary.nhwc ? ", NHWC" : "");
}

void check_boundaries(const std::vector<PackageMember>& members, size_t number, const char* what,
                      std::vector<nnapi::Boundary> nnapi::Model::*boundaries) {
  const nnapi::Model& first = model_of(members[0]);
  const nnapi::Model& model = model_of(members[number]);
  const auto& needed = first.*boundaries;
  const auto& found = model.*boundaries;
  if (needed.size() != found.size()) {
    refuse(number, members[number], fmt::format("it has {} {}s, model 1 has {}", found.size(), what, needed.size()));
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    const std::string one = boundary_text(first, needed[i]), other = boundary_text(model, found[i]);
    if (one == other) continue;
    refuse(number, members[number],
           fmt::format("{} {} is {}, and {} in model 1; all models of a package need the same, as the app doesn't know "
                       "which one runs: give models quantised by --calibrate quant=nnapi, which takes and gives floats",
                       what, i, other, one));
  }
}

void check_member(const std::vector<PackageMember>& members, size_t number) {
  const PackageMember& member = members[number];
  if (!member.conversion.is_whole) refuse(number, member, "a part of it stays on the CPU; packages hold whole models");
  if (number == 0) return;
  check_boundaries(members, number, "input", &nnapi::Model::inputs);
  check_boundaries(members, number, "output", &nnapi::Model::outputs);
  if (member.conversion.segments[0].shim_source == members[0].conversion.segments[0].shim_source) return;
  refuse(number, member,
         "what TorchScript does before and after NNAPI differs from model 1; all models of a package need the same");
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
  for (size_t i = 0; i < members.size(); ++i) {
    check_member(members, i);
    buffers.push_back({members[i].name, *members[i].conversion.segments[0].shim});
  }
  PackageBuffer package = write_package(buffers);
  std::vector<VariantSummary> variants;
  for (size_t i = 0; i < members.size(); ++i) variants.push_back(variant_of(members[i], package.places[i]));
  Conversion result = std::move(members[0].conversion);
  members.clear();
  result.segments[0].shim.reset();
  result.variants = std::move(variants);
  result.buffer_bytes = 4 * package.words.size();
  result.weight_bytes = package.weight_bytes;
  // The first model's own weights are late tensors of no module any more.
  result.late = std::make_shared<DeferredTensors>();
  set_package(result.module, std::move(package), nnapi_shim::make_compilation, *result.late);
  return result;
}

}  // namespace nnapi_convert
