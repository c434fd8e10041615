// SPDX-License-Identifier: BSD-3-Clause
// `inspect`: shows the content of a converted file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/json_text.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/load/extra_files.h"
#include "lib/converter/report/converted_graph.h"
#include "lib/converter/report/picture_text.h"
#include "lib/converter/report/program_text.h"
#include "lib/converter/report/report_page.h"
#include "lib/format/buffer_format.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/format/json_nesting.h"
#include "lib/format/operation_table.h"
#include "lib/quantise/recorded_calibration.h"
#include "lib/serialize/size_conditions.h"
#include "tools/nnapi-convert/engine/functions.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

const char* operation_name(int32_t code) {
  return name_of(static_cast<OperationCode>(code));
}

std::string shape_text(const std::vector<uint32_t>& dims) {
  std::string text;
  for (const uint32_t dim : dims) text += (text.empty() ? "" : ", ") + (dim == 0 ? "?" : std::to_string(dim));
  return "[" + text + "]";
}

std::string operand_text(const BufferModel& model, int32_t id) {
  const BufferOperand& operand = model.operands[static_cast<size_t>(id)];
  std::string text =
      fmt::format("%{}: {}{}", id, name_of(static_cast<OperandCode>(operand.type)), shape_text(operand.dims));
  if (operand.scale != 0) text += fmt::format(" scale {} zero point {}", operand.scale, operand.zero_point);
  return text;
}

std::map<std::string, int> operation_counts(const BufferModel& model) {
  std::map<std::string, int> counts;
  for (const BufferOperation& operation : model.operations) ++counts[operation_name(operation.code)];
  return counts;
}

std::string operations_text(const BufferModel& model) {
  const size_t total = model.operations.size();
  std::string text = counted(total, "operation") + "\n";
  for (const auto& [name, count] : operation_counts(model)) text += fmt::format("  {:>4}  {}\n", count, name);
  return text;
}

// Returns the ranges of open sizes, and the conditions on them, as text.
std::string conditions_text(const Metadata& metadata) {
  if (metadata.conditions.empty()) return "";
  std::vector<std::string> names;
  for (const MetadataInput& input : metadata.inputs) names.push_back(input.name);
  std::string text = "checked at each call\n";
  for (const SizeCondition& condition : metadata.conditions) text += "  " + text_of(condition, names).line() + "\n";
  return text;
}

std::string input_text(const MetadataInput& input) {
  std::string text = fmt::format("  {}: {}", input.name, to_text(input.type));
  if (input.nhwc) text += ", fed to NNAPI as NHWC";
  return text + "\n";
}

const char* runtime_name(const ConvertedFile& file) {
  return file.runtime == Runtime::kShim ? "shim" : "pytorch";
}

// Returns one line for the samples; an empty text for a buffer without any.
std::string samples_text(const BufferModel& buffer) {
  if (buffer.samples.empty()) return "";
  size_t words = 0;
  for (const BufferSampleSummary& sample : buffer.samples) words += sample.words;
  const size_t count = buffer.samples.size();
  return fmt::format("{} to check devices by, {} bytes, of sizes [{}]\n", counted(count, "sample"), 4 * words,
                     fmt::join(buffer.samples[0].sizes, ", "));
}

// Returns the smaller form in which the shim's file stores a float32 operand's value; null for other values.
const char* stored_form(const BufferValue& value) {
  const auto source = static_cast<buffer_format_v2::ValueSource>(value.source);
  if (source == buffer_format_v2::ValueSource::kFloat16Weight) return "float16";
  return source == buffer_format_v2::ValueSource::kInt8Weight ? "int8" : nullptr;
}

// Returns a line for each smaller form in which weights are stored.
std::string stored_text(const BufferModel& buffer) {
  std::map<std::string, size_t> counts;
  const auto count = [&](const BufferModel& model) {
    for (const BufferValue& value : model.values) {
      if (const char* form = stored_form(value)) ++counts[form];
    }
  };
  count(buffer);
  for (const BufferModel& subgraph : buffer.subgraphs) count(subgraph);
  std::string text;
  for (const auto& [form, number] : counts) {
    text += fmt::format("{} stored as {}, float32 for NNAPI\n", counted(number, "weight"), form);
  }
  return text;
}

std::string buffer_text(const BufferModel& buffer) {
  std::string text = "outputs of NNAPI\n";
  for (const int32_t id : buffer.outputs) text += fmt::format("  {}\n", operand_text(buffer, id));
  text += operations_text(buffer);
  for (size_t i = 0; i < buffer.subgraphs.size(); ++i) {
    text += fmt::format("subgraph {}: ", i + 1) + operations_text(buffer.subgraphs[i]);
  }
  return text + stored_text(buffer) + samples_text(buffer);
}

// Returns a line on --input-pixels; empty if it wasn't given.
std::string pixels_text(const ConvertedFile& file) {
  const std::optional<PixelInput> pixels = recorded_pixels(file);
  if (!pixels) return "";
  return "takes " + to_text(*pixels) + "\n";
}

// Returns a line on how pictures become the input; empty for a file that was quantised by data.
std::string picture_line(const ConvertedFile& file) {
  const std::optional<PictureChoice> pictures = recorded_pictures(file);
  if (!pictures || recorded_calibration(file)) return "";
  return to_text(*pictures) + "\n";
}

// Returns a line on how the file was quantised by data; empty for other files.
std::string calibration_text(const ConvertedFile& file) {
  const std::optional<RecordedCalibration> calibration = recorded_calibration(file);
  if (!calibration) return "";
  std::string text = "quantised by data";
  if (calibration->snr_db) text += fmt::format(", SNR {:.1f} dB on samples held back", *calibration->snr_db);
  if (calibration->accuracy) {
    text +=
        fmt::format("; accuracy on {} of them: {}", calibration->accuracy->samples, to_text(*calibration->accuracy));
  }
  if (calibration->score) text += "; " + to_text(*calibration->score);
  if (calibration->pictures.is_given()) text += "; " + to_text(calibration->pictures);
  return text + "\n";
}

// Returns the notes that the file tells apps and people about the model, as JSON; empty if there are none.
json attached_json(const std::string& path) {
  const AttachedFiles attached = read_attached(path);
  json form = json::object();
  std::istringstream lines(attached.labels);
  for (std::string label; std::getline(lines, label);) form["labels"].push_back(label);
  const auto read = [&](const char* key, const std::string& text) {
    if (text.empty()) return;
    form[key] = is_nested_too_deep(text) ? json() : json::parse(text, nullptr, false);
    if (form[key].is_object()) return;
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: its record of {} is damaged", path, key));
  };
  read("notes", attached.notes);
  read("origin", attached.origin);
  for (const FolderFile& file : attached.extra_files) {
    form["extra_files"].push_back({{"name", file.name}, {"bytes", file.text.size()}});
  }
  return form;
}

std::string attached_text(const std::string& path) {
  constexpr size_t kShownLabels = 3;
  const json form = attached_json(path);
  std::string text;
  if (form.contains("labels")) {
    const auto labels = form["labels"].get<std::vector<std::string>>();
    const size_t shown = std::min(kShownLabels, labels.size());
    text += fmt::format("{}: {}{}\n", counted(labels.size(), "label"),
                        fmt::join(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                        shown < labels.size() ? ", ..." : "");
  }
  const json notes = form.value("notes", json::object()), files = form.value("extra_files", json::array());
  for (const auto& [key, value] : notes.items()) {
    text += fmt::format("note {}: {}\n", key, value.is_string() ? value.get<std::string>() : json_text(value));
  }
  for (const json& file : files) {
    text += fmt::format("extra file {}, {} bytes\n", file["name"].get<std::string>(), file["bytes"].get<size_t>());
  }
  if (form.contains("origin")) text += "made by " + json_text(form["origin"]) + "\n";
  return text;
}

// Adds the weights that the model reads: their bytes by their places in the file.
void add_weights(const BufferModel& model, uint64_t begin, std::map<uint64_t, uint64_t>& weights) {
  for (const BufferValue& value : model.values) {
    const auto source = static_cast<buffer_format_v2::ValueSource>(value.source);
    if (source == buffer_format_v2::ValueSource::kWeight || source == buffer_format_v2::ValueSource::kFloat16Weight ||
        source == buffer_format_v2::ValueSource::kInt8Weight) {
      weights[begin + value.offset] = value.length;
    }
  }
  for (const BufferModel& subgraph : model.subgraphs) add_weights(subgraph, begin, weights);
}

std::map<uint64_t, uint64_t> weights_of(const ConvertedVariant& variant) {
  std::map<uint64_t, uint64_t> weights;
  add_weights(variant.buffer, variant.weight_begin, weights);
  return weights;
}

uint64_t bytes_of(const std::map<uint64_t, uint64_t>& weights) {
  uint64_t sum = 0;
  for (const auto& [place, bytes] : weights) sum += bytes;
  return sum;
}

// Returns the table of a package's models, and how many bytes of weights they share.
std::string package_text(const ConvertedFile& file) {
  if (file.variants.empty()) return "";
  const char* row = "  {:<5} {:>5}  {:<6} {:>10} {:>14} {:>14}  {}\n";
  std::string text = fmt::format("package of {}\n", counted(file.variants.size(), "model"));
  text += fmt::format(fmt::runtime(row), "model", "level", "quant", "operations", "weight bytes", "mapped", "made as");
  uint64_t sum = 0;
  std::map<uint64_t, uint64_t> all;
  for (size_t i = 0; i < file.variants.size(); ++i) {
    const MetadataVariant& variant = file.metadata.variants[i];
    const std::map<uint64_t, uint64_t> weights = weights_of(file.variants[i]);
    text += fmt::format(fmt::runtime(row), i + 1, variant.feature_level, variant.quant,
                        file.variants[i].buffer.operations.size(), bytes_of(weights), file.variants[i].weight_bytes,
                        variant.name);
    sum += bytes_of(weights);
    all.insert(weights.begin(), weights.end());
  }
  return text + fmt::format("{} bytes of weights in the file, {} bytes shared\nthe rest is of model 1\n",
                            file.weight_bytes, sum - bytes_of(all));
}

json package_json(const ConvertedFile& file) {
  json models = json::array();
  for (size_t i = 0; i < file.variants.size(); ++i) {
    const MetadataVariant& variant = file.metadata.variants[i];
    models.push_back({{"name", variant.name},
                      {"quant", variant.quant},
                      {"feature_level", variant.feature_level},
                      {"operation_count", file.variants[i].buffer.operations.size()},
                      {"weights_read", bytes_of(weights_of(file.variants[i]))},
                      {"weight_begin", file.variants[i].weight_begin},
                      {"weight_bytes", file.variants[i].weight_bytes}});
  }
  return {{"models", models}, {"weight_bytes", file.weight_bytes}};
}

std::string text_form(const ConvertedFile& file) {
  std::string text = fmt::format("runtime {}, quantisation mode {}, NNAPI feature level {}\n{}inputs of {}\n",
                                 runtime_name(file), file.metadata.quant, file.metadata.feature_level,
                                 package_text(file) + calibration_text(file) + picture_line(file) + pixels_text(file),
                                 file.metadata.method.empty() ? "forward" : file.metadata.method);
  for (const MetadataInput& input : file.metadata.inputs) text += input_text(input);
  text += conditions_text(file.metadata);
  const ModelGraph graph = graph_of(file);
  for (size_t i = 0; i < file.buffers.size(); ++i) {
    const std::vector<BlockPlace> places = places_of_segment(graph, i);
    const std::string place = places.empty() ? "" : ", " + to_text(places);
    if (file.buffers.size() > 1 || !places.empty()) text += fmt::format("segment {}{}\n", i, place);
    text += buffer_text(file.buffers[i]);
  }
  return text;
}

json model_json(const BufferModel& model) {
  json form = {{"operations", json::array()}, {"operands", json::array()}};
  for (const BufferOperation& operation : model.operations) {
    form["operations"].push_back(
        {{"name", operation_name(operation.code)}, {"inputs", operation.inputs}, {"outputs", operation.outputs}});
  }
  for (const BufferOperand& operand : model.operands) {
    form["operands"].push_back({{"type", name_of(static_cast<OperandCode>(operand.type))},
                                {"dimensions", operand.dims},
                                {"scale", operand.scale},
                                {"zero_point", operand.zero_point}});
    if (operand.channel_scales.empty()) continue;
    form["operands"].back()["channel_axis"] = operand.channel_axis;
    form["operands"].back()["channel_scales"] = operand.channel_scales;
  }
  for (const BufferValue& value : model.values) {
    json& operand = form["operands"][static_cast<size_t>(value.operand)];
    if (operand["type"] == name_of(OperandCode::MODEL)) operand["subgraph"] = value.offset;
    if (const char* stored = stored_form(value)) operand["stored_as"] = stored;
  }
  form["inputs"] = model.inputs;
  form["outputs"] = model.outputs;
  return form;
}

json buffer_json(const BufferModel& buffer) {
  json form = model_json(buffer);
  form["operation_count"] = buffer.operations.size();
  for (const BufferSampleSummary& sample : buffer.samples) {
    form["samples"].push_back({{"sizes", sample.sizes}, {"bytes", 4 * sample.words}});
  }
  form["subgraphs"] = json::array();
  for (const BufferModel& subgraph : buffer.subgraphs) form["subgraphs"].push_back(model_json(subgraph));
  return form;
}

// Returns the JSON form. A whole model has its keys at the top; a partitioned model has them in "segments".
json json_form(const ConvertedFile& file) {
  json form = {{"metadata", json::parse(to_json(file.metadata))}, {"runtime", runtime_name(file)}};
  if (!file.variants.empty()) form["package"] = package_json(file);
  if (!file.is_partitioned) {
    form.update(buffer_json(file.buffers[0]));
    return form;
  }
  form["segments"] = json::array();
  const ModelGraph graph = graph_of(file);
  for (size_t i = 0; i < file.buffers.size(); ++i) {
    form["segments"].push_back(buffer_json(file.buffers[i]));
    const std::vector<BlockPlace> places = places_of_segment(graph, i);
    if (!places.empty()) form["segments"].back()["inside"] = to_json(places);
  }
  return form;
}

std::optional<std::string> program_of(const std::string& path) {
  const std::optional<FileProgram> read = read_program(path);
  return read ? std::optional(to_text(*read->program)) : std::nullopt;
}

// Returns the report of a converted file, with the program and options that made it, as the file tells.
json report_with_origin(const ConvertedFile& file, const std::string& path) {
  json report = report_of(file, path);
  const json origin = attached_json(path).value("origin", json::object());
  if (origin.contains("version")) report["program"] = {{"version", origin["version"]}};
  if (origin.contains("options")) report["options"] = origin["options"];
  return report;
}

std::string program_text(const std::optional<std::string>& program) {
  return program ? "program of the shim, without PyTorch\n" + *program : "";
}

std::string shown_methods(const std::vector<ConvertedFile>& files, const std::string& path, const std::string& format) {
  if (format == "html") {
    throw ConvertError(ExitCode::kUsage, "--format html: " + path + " has several methods; use text, json or dot");
  }
  json form = {{"methods", json::array()}};
  std::string text;
  for (const ConvertedFile& file : files) {
    if (format == "json") form["methods"].push_back(json_form(file));
    if (format == "text") text += fmt::format("method {}: {}", file.metadata.method, text_form(file));
    if (format == "dot") text += to_dot(graph_of(file));
  }
  const std::optional<std::string> program = format == "dot" ? std::nullopt : program_of(path);
  if (format == "text") text += attached_text(path) + program_text(program);
  if (format == "json") form["attached"] = attached_json(path);
  if (program) form["program"] = *program;
  return format == "json" ? json_text(form, 2) + "\n" : text;
}

}  // namespace

std::string shown_file(const std::string& path, const std::string& format) {
  const std::vector<ConvertedFile> files = read_converted_methods(path);
  const ConvertedFile& file = files[0];
  if (!file.metadata.method.empty()) return shown_methods(files, path, format);
  if (format == "dot") return to_dot(graph_of(file));
  if (format == "html") return report_page(report_with_origin(file, path));
  const std::optional<std::string> program = program_of(path);
  if (format == "text") {
    return text_form(file) + attached_text(path) + program_text(program);
  }
  json form = json_form(file);
  form["attached"] = attached_json(path);
  if (program) form["program"] = *program;
  return json_text(form, 2) + "\n";
}

std::vector<std::string> called_operators(const std::string& path) {
  const std::vector<ConvertedFile> files = read_converted_methods(path);
  if (files[0].runtime != Runtime::kShim) {
    throw ConvertError(
        ExitCode::kBadFile,
        fmt::format("{} is made for PyTorch's loader, needed: a file for the shim; convert the model with "
                    "--runtime shim",
                    path));
  }
  const std::optional<FileProgram> read = read_program(path);
  std::vector<std::string> names;
  for (uint32_t i = 0; read && i < read->program->operator_count(); ++i) {
    names.emplace_back(read->program->operator_name(i));
  }
  return names;
}

}  // namespace nnapi_convert
