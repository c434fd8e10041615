// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/conversion.h"

#include <algorithm>
#include <utility>

#include "lib/converter/emit/attached_records.h"
#include "lib/converter/emit/shim_files.h"
#include "lib/converter/load/archive_writer.h"
#include "lib/format/picture_record.h"
#include "lib/nnapi/validate.h"

namespace nnapi_convert {
namespace {

void add_attached(ArchiveExtras& extras, const char* record, std::string bytes) {
  if (!bytes.empty()) extras.attached.push_back({record, std::move(bytes)});
}

ArchiveExtras extras_of(const Conversion& conversion) {
  ArchiveExtras extras;
  extras.metadata = to_json(metadata_of(conversion));
  if (conversion.runtime == Runtime::kShim && (conversion.is_whole || conversion.wiring || conversion.program)) {
    extras.shim_records = shim_records(conversion.segments.size());
    extras.shim_index = conversion.is_whole ? shim_index()
                        : conversion.wiring ? shim_index(*conversion.wiring)
                                            : shim_index_of_program(extras.shim_records);
    extras.program = conversion.program;
    extras.has_module = conversion.has_module;
  }
  if (conversion.pictures && conversion.runtime == Runtime::kShim) {
    add_attached(extras, picture_record::kRecord, picture_record_of(*conversion.pictures, conversion.interface));
  }
  extras.attached.insert(extras.attached.end(), conversion.attached.begin(), conversion.attached.end());
  if (conversion.embeds_shim_source) extras.shim_source = shim_files();
  extras.keeps_source_lines = conversion.keeps_source_lines;
  return extras;
}

void release_constants(nnapi::Model& model) {
  for (nnapi::Operand& operand : model.operands) {
    if (auto* constant = std::get_if<nnapi::Constant>(&operand.value)) release_late(*constant);
  }
}

}  // namespace

Metadata metadata_of(const Conversion& conversion) {
  const nnapi::Model none;  // in a partitioned model, no NNAPI model has forward's interface
  Metadata metadata = make_metadata(conversion.is_whole ? conversion.segments[0].model : none, conversion.interface,
                                    name_of(conversion.quant));
  metadata.feature_level = conversion.feature_level();
  metadata.options = conversion.recorded_options;
  for (const VariantSummary& variant : conversion.variants) {
    metadata.variants.push_back(
        {variant.name, name_of(variant.quant), variant.feature_level, variant.sizes, variant.recorded_options});
    metadata.feature_level = std::min(metadata.feature_level, variant.feature_level);
  }
  return metadata;
}

void release_constants(Conversion& conversion) {
  for (SegmentSummary& segment : conversion.segments) {
    release_constants(segment.model);
    for (nnapi::Constant& constant : segment.serialized.buffers) release_late(constant);
  }
}

int Conversion::feature_level() const {
  int level = 1;
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
  release_constants(conversion);
  write_and_release_module(conversion.module, *conversion.late, path, extras);
}

}  // namespace nnapi_convert
