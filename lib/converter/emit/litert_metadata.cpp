// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/litert_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lib/base/json_text.h"
#include "lib/format/picture_record.h"
#include "lib/litert/flatbuffer.h"

namespace nnapi_convert {
namespace {

using litert::Table;

constexpr const char *kName = "TFLITE_METADATA", *kIdentifier = "M001", *kNotes = "nnapi_convert.notes",
                     *kOrigin = "nnapi_convert.origin";

// Fields of the metadata schema's tables, and members of its unions and enums.
namespace model_metadata {
enum { kDescription = 1, kVersion = 2, kSubgraphs = 3, kAuthor = 4, kLicense = 5, kFiles = 6, kMinParserVersion = 7 };
}
namespace subgraph_metadata {
enum { kInputs = 2, kOutputs = 3 };
}
namespace tensor_metadata {
enum { kTensorName = 0, kContent = 3, kProcessUnits = 4, kAssociatedFiles = 6 };
}
constexpr uint8_t kImageProperties = 2, kNormalizationOptions = 1;
constexpr int8_t kDescriptions = 1, kTensorAxisLabels = 2, kRgb = 1, kGrayscale = 2;

Table associated_file(const std::string& name, int8_t type) {
  Table table;
  table.set_text(0, name);
  table.set(2, type);
  return table;
}

// Returns how pictures are normalised: the model's numbers are (x - mean) / std of bytes x.
Table normalization(const picture_record::Record& record) {
  constexpr double kBrightest = 255;
  std::vector<float> means, deviations;
  for (size_t channel = 0; channel < std::min<size_t>(record.channels, 3); ++channel) {
    const double unit = record.takes_bytes() ? 1 : kBrightest / record.pixel_max;
    means.push_back(static_cast<float>(record.takes_bytes() ? 0 : record.mean[channel] * unit));
    deviations.push_back(static_cast<float>(record.takes_bytes() ? 1 : record.std[channel] * unit));
  }
  Table options, unit;
  options.set_numbers(0, means);
  options.set_numbers(1, deviations);
  unit.set(0, kNormalizationOptions);
  unit.set_table(1, std::move(options));
  return unit;
}

Table image_content(const picture_record::Record& record) {
  const bool is_bgr = (record.flags & picture_record::kBgr) != 0;
  Table size, image, content;
  size.set(0, record.width);
  size.set(1, record.height);
  if (!is_bgr) image.set(0, record.channels == 1 ? kGrayscale : kRgb);
  if (record.width > 0 && record.height > 0) image.set_table(1, std::move(size));
  content.set(0, kImageProperties);
  content.set_table(1, std::move(image));
  return content;
}

std::vector<Table> input_tables(const litert::File& file, const Conversion& conversion) {
  std::string bytes;
  if (conversion.pictures) bytes = picture_record_of(*conversion.pictures, conversion.interface);
  picture_record::Record record;
  const bool has_pictures = picture_record::read(bytes.data(), bytes.size(), &record);
  const std::optional<size_t> picture = picture_input(conversion.interface);
  std::vector<Table> tables;
  for (size_t i = 0; i < file.signatures[0].inputs.size(); ++i) {
    Table table;
    table.set_text(tensor_metadata::kTensorName, file.signatures[0].inputs[i]);
    if (has_pictures && picture == i) {
      table.set_table(tensor_metadata::kContent, image_content(record));
      table.set_tables(tensor_metadata::kProcessUnits, {normalization(record)});
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

// Returns the outputs' tables. The labels belong to the first output that has as many classes.
std::vector<Table> output_tables(const litert::File& file, size_t labels, const std::string& labels_file) {
  const litert::Signature& signature = file.signatures[0];
  const litert::Subgraph& subgraph = file.subgraphs[signature.subgraph];
  bool is_named = labels == 0;
  std::vector<Table> tables;
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    Table table;
    table.set_text(tensor_metadata::kTensorName, signature.outputs[i]);
    const std::vector<int32_t>& shape = subgraph.tensors[static_cast<size_t>(subgraph.outputs[i])].shape;
    if (!is_named && !shape.empty() && static_cast<size_t>(shape.back()) == labels) {
      table.set_tables(tensor_metadata::kAssociatedFiles, {associated_file(labels_file, kTensorAxisLabels)});
      is_named = true;
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string note(const AppNotes& notes, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto found = notes.notes.find(key);
    if (found != notes.notes.end()) return found->second;
  }
  return "";
}

void set_note(Table& table, int field, const std::string& text) {
  if (!text.empty()) table.set_text(field, text);
}

}  // namespace

void add_litert_metadata(litert::File& file, const Conversion& conversion, const AppNotes& notes) {
  std::vector<Table> files;
  for (const FolderFile& extra : notes.extra_files) {
    file.files.emplace_back(extra.name, extra.text);
    files.push_back(associated_file(extra.name, kDescriptions));
  }
  std::string labels_file = "labels.txt", labels;
  const auto is_taken = [&] {
    return std::any_of(file.files.begin(), file.files.end(),
                       [&](const auto& each) { return each.first == labels_file; });
  };
  while (is_taken()) labels_file.insert(0, "class_");
  for (const std::string& label : notes.labels) labels += label + "\n";
  if (!labels.empty()) file.files.emplace_back(labels_file, labels);
  if (!notes.origin.empty()) file.metadata.emplace_back(kOrigin, notes.origin);
  if (!notes.notes.empty()) file.metadata.emplace_back(kNotes, json_text(nlohmann::json(notes.notes)));
  if (file.files.empty() && notes.notes.empty() && !conversion.pictures) return;
  Table subgraph, root;
  subgraph.set_tables(subgraph_metadata::kInputs, input_tables(file, conversion));
  subgraph.set_tables(subgraph_metadata::kOutputs, output_tables(file, notes.labels.size(), labels_file));
  set_note(root, model_metadata::kDescription, note(notes, {"description"}));
  set_note(root, model_metadata::kVersion, note(notes, {"version"}));
  root.set_tables(model_metadata::kSubgraphs, {std::move(subgraph)});
  set_note(root, model_metadata::kAuthor, note(notes, {"author"}));
  set_note(root, model_metadata::kLicense, note(notes, {"licence", "license"}));
  if (!files.empty()) root.set_tables(model_metadata::kFiles, std::move(files));
  root.set_text(model_metadata::kMinParserVersion, "1.0.0");
  file.metadata.emplace_back(kName, litert::lay_out(root, kIdentifier, {}).head);
}

}  // namespace nnapi_convert
