// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/calibration_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/file_bytes.h"
#include "lib/base/json_problem.h"
#include "lib/format/crc32.h"
#include "lib/format/operation_table.h"
#include "lib/quantise/judgement_json.h"
#include "lib/quantise/recorded_calibration.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

json distance_json(const quantise::Distance& distance) {
  return {{"rms", distance.rms},
          {"snr_db", std::min(distance.snr_db, kMostDecibels)},
          {"cosine", distance.cosine},
          {"top1", distance.top1},
          {"rows", distance.rows}};
}

quantise::Distance distance_of(const json& entry) {
  return {entry.at("rms"), entry.at("snr_db"), entry.at("cosine"), entry.at("top1"), entry.value("rows", 0.0)};
}

constexpr const char* kFixedRule = "fixed by NNAPI";
constexpr const char* kRefinedRule = "refined";
constexpr const char* kConstantRule = "constant";

json tensors_json(const TableModel& model, const quantise::Report& report) {
  json tensors = json::array();
  const quantise::Choice& choice = report.choice;
  for (size_t i = 0; i < model.names.size(); ++i) {
    const bool is_measured = i < choice.measured.size() && choice.measured[i];
    const bool has_scale = i < choice.assignment.scales.size() && choice.assignment.scales[i];
    if (!is_measured && !has_scale) continue;
    json entry = {{"name", model.names[i]}};
    if (has_scale) {
      const nnapi::Scale& scale = *choice.assignment.scales[i];
      entry["scale"] = scale.scale;
      entry["zero_point"] = scale.zero_point;
      const bool is_refined = i < choice.is_refined.size() && choice.is_refined[i];
      entry["rule"] = model.is_fixed[i] ? kFixedRule
                      : is_refined      ? kRefinedRule
                      : is_measured     ? name_of(report.method)
                                        : kConstantRule;
    }
    if (is_measured) {
      entry["lowest"] = choice.measured[i]->first;
      entry["highest"] = choice.measured[i]->second;
    }
    tensors.push_back(std::move(entry));
  }
  return tensors;
}

json segment_json(const TableModel& model, const quantise::QuantisedPart& part) {
  json operations = json::array();
  for (size_t i = 0; i < model.operations.size(); ++i) {
    const bool is_integer = part.report && part.report->choice.assignment.is_integer[i];
    operations.push_back(
        {{"operation", model.operations[i].code}, {"result", model.operations[i].result}, {"integer", is_integer}});
    if (part.report && !part.report->choice.pool_layers.empty() && part.report->choice.pool_layers[i]) {
      operations.back()["as_layer"] = true;
    }
  }
  json segment = {{"weights", model.weights}, {"operations", operations}};
  if (!part.report) {
    segment["float_because"] = part.left_float;
    return segment;
  }
  const quantise::Report& report = *part.report;
  segment["range_method"] = name_of(report.method);
  segment["samples"] = report.calibration_samples;
  segment["held_back"] = report.held_back_samples;
  segment["distance"] = distance_json(report.distance);
  segment["left_float"] = report.left_float;
  segment["equalised"] = report.choice.is_equalised;
  segment["relu6_becomes_relu"] = report.choice.drops_clipping;
  segment["tensors"] = tensors_json(model, report);
  json& changes = segment["bias_changes"] = json::object();
  for (size_t i = 0; i < report.choice.bias_changes.size(); ++i) {
    if (!report.choice.bias_changes[i].empty()) changes[model.operations[i].result] = report.choice.bias_changes[i];
  }
  return segment;
}

class Reading {
 public:
  Reading(const std::string& path, size_t segment, const TableModel& model)
      : path_(path), segment_(segment), model_(model) {
    for (size_t i = 0; i < model.names.size(); ++i) operands_[model.names[i]] = i;
  }

  quantise::QuantisedPart run(const json& entry, Diagnostics& diagnostics) {
    check_operations(entry.at("operations"));
    if (entry.at("weights").get<uint32_t>() != model_.weights) {
      diagnostics.warn(
          fmt::format("--calibration {}: the weights of segment {} are others than those that the table "
                      "was made for: calibrate again if the model was trained again",
                      path_, segment_));
    }
    if (entry.contains("float_because")) return {{}, entry["float_because"].get<std::string>()};
    quantise::Report report;
    read_choice(entry, report.choice);
    report.method = method_named(entry.at("range_method"));
    report.operations = model_.operations.size();
    report.integer_operations = report.choice.assignment.integer_count();
    report.calibration_samples = entry.at("samples");
    report.held_back_samples = entry.at("held_back");
    report.distance = distance_of(entry.at("distance"));
    report.left_float = entry.at("left_float").get<std::vector<std::string>>();
    report.is_equalised = report.choice.is_equalised;
    report.is_bias_corrected = !report.choice.bias_changes.empty();
    return {std::move(report)};
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw ConvertError(ExitCode::kBadFile, fmt::format("--calibration {}: {}", path_, problem));
  }

  void check_operations(const json& operations) const {
    const auto refuse = [&](const std::string& what) {
      fail(
          fmt::format("the table is of another model, or was made with other options: segment {}: {}", segment_, what));
    };
    if (operations.size() != model_.operations.size()) {
      refuse(fmt::format("{} found, {} needed", counted(operations.size(), "operation"), model_.operations.size()));
    }
    for (size_t i = 0; i < operations.size(); ++i) {
      const std::string code = operations[i].at("operation"), result = operations[i].at("result");
      const TableModel::Operation& needed = model_.operations[i];
      if (code == needed.code && result == needed.result) continue;
      refuse(fmt::format("operation {}: {} that gives {} found, {} that gives {} needed", i, code, result, needed.code,
                         needed.result));
    }
  }

  quantise::RangeMethod method_named(const std::string& name) const {
    for (const quantise::RangeMethod method : quantise::all_range_methods()) {
      if (quantise::name_of(method) == name) return method;
    }
    fail(fmt::format("range_method {} is unknown", name));
  }

  void read_choice(const json& entry, quantise::Choice& choice) {
    for (const json& operation : entry.at("operations")) {
      choice.assignment.is_integer.push_back(operation.at("integer"));
      choice.pool_layers.push_back(operation.value("as_layer", false));
    }
    choice.assignment.scales.resize(model_.names.size());
    choice.measured.resize(model_.names.size());
    choice.is_equalised = entry.at("equalised");
    choice.drops_clipping = entry.at("relu6_becomes_relu");
    for (const json& tensor : entry.at("tensors")) read_tensor(tensor, choice);
    if (entry.at("bias_changes").empty()) return;
    choice.bias_changes.resize(model_.operations.size());
    for (const auto& [name, values] : entry["bias_changes"].items()) {
      choice.bias_changes[operation_giving(name)] = values.get<std::vector<float>>();
    }
  }

  size_t operation_giving(const std::string& name) const {
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (model_.operations[i].result == name) return i;
    }
    fail(fmt::format("bias_changes: no operation gives {}", name));
  }

  void read_tensor(const json& tensor, quantise::Choice& choice) {
    const std::string name = tensor.at("name");
    const auto found = operands_.find(name);
    if (found == operands_.end()) fail(fmt::format("tensor {} is none of segment {}'s", name, segment_));
    if (!read_.insert(name).second) fail(fmt::format("tensor {} stands there twice", name));
    if (tensor.contains("lowest")) {
      choice.measured[found->second] = {tensor.at("lowest").get<float>(), tensor.at("highest").get<float>()};
    }
    if (!tensor.contains("scale")) return;
    const double scale = tensor["scale"];
    const double zero_point = tensor.at("zero_point");
    if (!(static_cast<float>(scale) > 0) || !std::isfinite(static_cast<float>(scale))) {
      fail(fmt::format("tensor {}: scale {} found, a number above 0 needed", name, tensor["scale"].dump()));
    }
    if (!(zero_point >= 0 && zero_point <= 255) || zero_point != std::floor(zero_point)) {
      fail(fmt::format("tensor {}: zero_point {} found, 0 to 255 needed", name, tensor["zero_point"].dump()));
    }
    choice.assignment.scales[found->second] = {static_cast<float>(scale), static_cast<int32_t>(zero_point)};
  }

  const std::string& path_;
  size_t segment_;
  const TableModel& model_;
  std::map<std::string, size_t> operands_;
  std::set<std::string> read_;
};

ReadTable read_table(const json& table, const CalibrationOptions& calibration, const std::vector<TableModel>& models,
                     Diagnostics& diagnostics) {
  const std::string& path = calibration.table;
  const auto fail = [&](const std::string& problem) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("--calibration {}: {}", path, problem));
  };
  if (table.at("version") != kVersion) {
    fail(fmt::format("version {} found, {} needed: write it anew with --calibrate", table["version"].dump(), kVersion));
  }
  const json& segments = table.at("segments");
  if (segments.size() != models.size()) {
    fail(fmt::format("the table is of another model, or was made with other options: {} found, {} needed",
                     counted(segments.size(), "segment"), models.size()));
  }
  ReadTable result{{}, calibration};
  result.calibration.keep_float = table.at("keep_float").get<std::vector<std::string>>();
  if (table.contains("pictures")) result.calibration.pictures = picture_choice(table["pictures"].dump());
  result.parts.is_whole = table.at("whole");
  result.parts.calibration_samples = table.at("samples");
  result.parts.held_back_samples = table.at("held_back");
  if (!table.at("distance").is_null()) result.parts.distance = distance_of(table["distance"]);
  if (table.contains("accuracy")) result.parts.accuracy = accuracy_of(table["accuracy"]);
  if (table.contains("score")) result.parts.score = score_of(table["score"]);
  if (table.contains("inputs")) result.parts.fed = recorded_ranges(table["inputs"]);
  for (size_t i = 0; i < models.size(); ++i) {
    result.parts.parts.push_back(Reading(path, i, models[i]).run(segments[i], diagnostics));
  }
  return result;
}

}  // namespace

TableModel table_model(const nnapi::Model& model) {
  TableModel result;
  result.names = quantise::stable_names(model);
  result.is_fixed.resize(result.names.size(), false);
  for (const nnapi::Operation& operation : model.operations) {
    if (nnapi::fixed_scale(operation.code)) result.is_fixed[static_cast<size_t>(operation.outputs[0])] = true;
    result.operations.push_back({name_of(operation.code), result.names[static_cast<size_t>(operation.outputs[0])]});
  }
  for (const nnapi::Operand& operand : model.operands) {
    if (operand.constant() == nullptr) continue;
    operand.constant()->write_to(
        [&](const void* bytes, size_t size) { result.weights = crc32(bytes, size, result.weights); });
  }
  return result;
}

std::string calibration_table(const std::vector<TableModel>& models, const quantise::QuantisedParts& quantised,
                              const CalibrationOptions& calibration) {
  json table = {{"version", kVersion},
                {"whole", quantised.is_whole},
                {"samples", quantised.calibration_samples},
                {"held_back", quantised.held_back_samples},
                {"distance", nullptr},
                {"keep_float", calibration.keep_float},
                {"segments", json::array()}};
  if (quantised.distance) table["distance"] = distance_json(*quantised.distance);
  if (quantised.accuracy) table["accuracy"] = to_json(*quantised.accuracy);
  if (quantised.score) table["score"] = to_json(*quantised.score);
  if (!quantised.fed.empty()) table["inputs"] = to_json(quantised.fed);
  if (calibration.pictures.is_given()) table["pictures"] = json::parse(picture_text(calibration.pictures));
  for (size_t i = 0; i < models.size(); ++i) {
    table["segments"].push_back(segment_json(models[i], quantised.parts[i]));
  }
  return table.dump(1) + "\n";
}

ReadTable read_calibration_table(const CalibrationOptions& given, const std::vector<TableModel>& models,
                                 Diagnostics& diagnostics) {
  const std::vector<uint8_t> text = calibration::file_bytes(given.table);
  try {
    return read_table(json::parse(text.begin(), text.end()), given, models, diagnostics);
  } catch (const json::exception& error) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("--calibration {}: no calibration table: {}", given.table, json_problem(error)));
  }
}

}  // namespace nnapi_convert
