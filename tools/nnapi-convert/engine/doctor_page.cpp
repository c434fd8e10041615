// SPDX-License-Identifier: BSD-3-Clause
// `inspect --format html --doctor`: makes the page of a converted file with the findings of nnapi-probe's doctor.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lib/base/error.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/report/converted_graph.h"
#include "lib/converter/report/report_page.h"
#include "lib/format/json_value.h"
#include "tools/nnapi-convert/engine/functions.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

constexpr double kSlowShare = 0.1;  // as a share of the time of all operations

// The doctor's findings for one operation on a device.
struct Examined {
  std::string operation, source, finding, message;
  double microseconds = 0;
};

struct ExaminedFile {
  std::string device, conclusion;
  bool is_right = false;
  std::vector<std::vector<Examined>> segments;
};

void read_result(const JsonValue& source, Examined* operation) {
  for (const auto& [key, item] : source.members()) {
    if (key == "finding") operation->finding = item.text();
    if (key == "message") operation->message = item.text();
    if (key == "microseconds" && item.value.is_number()) operation->microseconds = item.value.get<double>();
  }
}

// Reads an operation. A fault that showed in place replaces the finding for the operation alone.
Examined examined_operation(const JsonValue& source) {
  Examined operation;
  const auto members = source.members();
  for (const char* wanted : {"alone", "in_place"}) {
    for (const auto& [key, item] : members) {
      if (key == wanted) read_result(item, &operation);
    }
  }
  for (const auto& [key, item] : members) {
    if (key == "operation") operation.operation = item.text();
    if (key == "source") operation.source = item.text();
  }
  return operation;
}

ExaminedFile examined_device(const JsonValue& source) {
  ExaminedFile device;
  for (const auto& [key, item] : source.members()) {
    if (key == "name") device.device = item.text();
    if (key == "conclusion") device.conclusion = item.text();
    if (key == "is_right") device.is_right = item.flag();
    if (key != "segments") continue;
    for (const JsonValue& segment : item.elements(true)) {
      std::vector<Examined>& operations = device.segments.emplace_back();
      for (const auto& [name, member] : segment.members()) {
        if (name != "operations") continue;
        for (const JsonValue& each : member.elements(true)) operations.push_back(examined_operation(each));
      }
    }
  }
  return device;
}

ExaminedFile read_device(const std::string& text, const std::string& wanted) {
  const std::string what = "doctor.json";
  const json parsed = parsed_json(text, what);
  const JsonValue source{parsed, what};
  std::vector<ExaminedFile> devices;
  for (const auto& [key, item] : source.members()) {
    if (key != "devices") continue;
    for (const JsonValue& each : item.elements(true)) devices.push_back(examined_device(each));
  }
  if (devices.empty()) throw JsonError(what + ": no device found, one needed");
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const ExaminedFile& each) {
    return wanted.empty() ? !each.is_right : each.device == wanted;
  });
  if (found != devices.end()) return *found;
  if (!wanted.empty()) throw JsonError(fmt::format("{}: no device {} found", what, wanted));
  return devices.front();
}

double time_of_all(const ExaminedFile& file) {
  double sum = 0;
  for (const std::vector<Examined>& segment : file.segments) {
    for (const Examined& operation : segment) sum += operation.microseconds;
  }
  return sum;
}

// Returns the page's entry for the operation; null if there is nothing to say.
json finding_of(const Examined& operation, double all) {
  const bool is_fault = operation.finding == "wrong" || operation.finding == "error" || operation.finding == "crash" ||
                        operation.finding == "hang";
  const double share = all > 0 ? operation.microseconds / all : 0;
  std::string why = operation.finding;
  if (!operation.message.empty()) why += ": " + operation.message;
  if (operation.microseconds > 0)
    why += fmt::format(", {:.1f} microseconds, {:.1f} %", operation.microseconds, 100 * share);
  if (is_fault) return {{"level", "bad"}, {"rank", 0}, {"why", why}};
  if (operation.finding == "not taken") return {{"level", "warning"}, {"rank", 1}, {"why", why}};
  if (share > kSlowShare) return {{"level", "warning"}, {"rank", 2 - share}, {"why", "slow: " + why}};
  return nullptr;
}

void add_findings(const ExaminedFile& file, json& report) {
  const double all = time_of_all(file);
  for (json& step : report["graph"]["steps"]) {
    if (step["segment"].is_null() || step.contains("subgraph")) continue;
    const auto number = step["segment"].get<size_t>();
    json& nodes = step["nodes"];
    const bool fits = number < file.segments.size() && nodes.size() == file.segments[number].size();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!fits || nodes[i]["op"] != file.segments[number][i].operation) {
        throw JsonError("doctor.json: other operations found than those of the file; examine this file");
      }
      const Examined& operation = file.segments[number][i];
      const json finding = finding_of(operation, all);
      if (!finding.is_null()) nodes[i]["finding"] = finding;
      if (!operation.source.empty()) nodes[i]["where"] = operation.source;
    }
  }
}

}  // namespace

std::string doctor_page(const std::string& path, const std::string& doctor, const std::string& device) {
  const std::vector<ConvertedFile> files = read_converted_methods(path);
  json report = report_of(files[0], path);
  try {
    const ExaminedFile found = read_device(doctor, device);
    report["doctor"] = {{"device", found.device.empty() ? "what NNAPI chooses" : found.device},
                        {"conclusion", found.conclusion},
                        {"level", found.is_right ? "" : "bad"}};
    add_findings(found, report);
  } catch (const JsonError& error) {
    throw ConvertError(ExitCode::kBadFile, error.what());
  }
  return report_page(report);
}

}  // namespace nnapi_convert
