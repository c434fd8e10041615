#include "lib/converter/conversion.h"

#include <algorithm>

#include "lib/nnapi/validate.h"
#include "lib/serialize/archive_writer.h"
#include "lib/serialize/metadata.h"
#include "lib/shim_files/shim_files.h"

namespace nnapi_convert {
namespace {

ArchiveExtras extras_of(const Conversion& conversion) {
  ArchiveExtras extras;
  Metadata metadata = make_metadata(conversion.model, conversion.interface, name_of(conversion.quant));
  metadata.feature_level = conversion.feature_level();
  metadata.options = conversion.recorded_options;
  extras.metadata = to_json(metadata);
  extras.has_shim_index = conversion.runtime == Runtime::kShim && !conversion.is_partitioned();
  if (conversion.embeds_shim_source) extras.shim_source = shim_files();
  return extras;
}

void release_constants(nnapi::Model& model) {
  for (nnapi::Operand& operand : model.operands) {
    if (auto* constant = std::get_if<nnapi::Constant>(&operand.value)) release_late(*constant);
  }
}

}  // namespace

int Conversion::feature_level() const {
  int level = nnapi::required_feature_level(model);
  for (const SegmentSummary& segment : segments) level = std::max(level, nnapi::required_feature_level(segment.model));
  return level;
}

torch::jit::Module Conversion::runnable_module() const {
  late->fill();
  return module;
}

void write_conversion(const Conversion& conversion, const std::string& path) {
  write_module(conversion.module, *conversion.late, path, extras_of(conversion));
}

void write_and_release(Conversion& conversion, const std::string& path) {
  const ArchiveExtras extras = extras_of(conversion);
  release_constants(conversion.model);
  for (SegmentSummary& segment : conversion.segments) release_constants(segment.model);
  for (nnapi::Constant& constant : conversion.serialized.buffers) release_late(constant);
  write_and_release_module(conversion.module, *conversion.late, path, extras);
}

}  // namespace nnapi_convert
