// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/package.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lib/base/error.h"
#include "lib/converter/emit/emit_cpu.h"
#include "lib/converter/emit/package_boundaries.h"
#include "lib/converter/emit/program.h"
#include "lib/serialize/package_writer.h"
#include "lib/serialize/shim_emitter.h"
#include "lib/shim/torch_binding.h"

namespace nnapi_convert {
namespace {

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
  summary.quantised = conversion.quantised;
  summary.stored_weights = conversion.stored_weights;
  return summary;
}

std::vector<const Conversion*> conversions_of(const std::vector<PackageMember>& members) {
  std::vector<const Conversion*> conversions;
  for (const PackageMember& member : members) conversions.push_back(&member.conversion);
  return conversions;
}

}  // namespace

Conversion make_package(std::vector<PackageMember> members, Fallback fallback) {
  if (const auto refusal = package_refusal(conversions_of(members))) {
    throw ConvertError(ExitCode::kNotConvertible, fmt::format("--package: model {} ({}): {}", refusal->number + 1,
                                                              members[refusal->number].name, refusal->reason));
  }
  std::vector<NamedBuffer> buffers;
  for (const PackageMember& member : members) {
    buffers.push_back({member.name, *member.conversion.segments[0].shim});
  }
  PackageBuffer package = write_package(buffers);
  std::vector<VariantSummary> variants;
  for (size_t i = 0; i < members.size(); ++i) variants.push_back(variant_of(members[i], package.places[i]));
  PackageMember seen = std::move(members[member_that_callers_see(conversions_of(members))]);
  members.clear();
  Conversion result = std::move(seen.conversion);
  result.segments[0].shim.reset();
  result.variants = std::move(variants);
  result.buffer_bytes = 4 * package.words.size();
  result.weight_bytes = package.weight_bytes;
  // Forgets the member's own weights: no module has them any more as late tensors.
  result.late = std::make_shared<DeferredTensors>();
  const ShimModuleRequest request{
      result.segments[0].model, result.interface, nnapi_shim::make_compilation,
      result.has_module ? cpu_fallback(seen.original, result.interface, fallback) : std::nullopt,
      result.bundled_inputs};
  result.module = build_package_module(request, std::move(package), *result.late);
  Diagnostics none;  // a package's models have no form for the CPU
  result.program =
      program_of_whole(result.module, request.model, result.interface, {}, result.keeps_source_lines, {true}, none);
  return result;
}

}  // namespace nnapi_convert
