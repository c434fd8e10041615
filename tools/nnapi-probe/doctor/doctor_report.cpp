// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/doctor_report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "lib/format/nnapi_codes.h"
#include "lib/format/operation_table.h"
#include "tools/nnapi-probe/doctor/json_text.h"
#include "tools/nnapi-probe/doctor/remedy.h"

namespace nnapi_doctor {
namespace {

using nnapi_convert::OperationCode;
using nnapi_shim::OperationView;

constexpr uint32_t kLevelOfNchw = 3;  // the first feature level whose operations take NCHW

const char* operation_name(const OperationView& operation) {
  return nnapi_convert::name_of(static_cast<OperationCode>(operation.code));
}

std::string device_text(const DeviceReport& device) {
  if (device.name.empty()) return "what NNAPI chooses";
  return device.name + (device.version.empty() ? "" : " (driver " + device.version + ")");
}

double microseconds(uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

// Returns a text for people: by how much a result is wrong, or its error.
std::string error_text(const TrialResult& result) {
  const Comparison& worst = result.worst;
  if (result.finding == Finding::kError) {
    return (result.nnapi_code != 0 ? "code " + std::to_string(result.nnapi_code) + ": " : "") + result.message;
  }
  if (result.finding != Finding::kWrong && result.finding != Finding::kHalf) return result.message;
  if (worst.elements == 0) return result.message;
  std::string text;
  if (worst.not_a_number > 0) text = std::to_string(worst.not_a_number) + " no numbers, ";
  if (worst.is_quantised) {
    text += "worst " + number_text(worst.worst) + " quanta, mean " + number_text(worst.mean);
  } else {
    const double range = worst.range > 0 ? worst.range : 1;
    text += "worst " + number_text(worst.worst / range) + " of the range, mean " + number_text(worst.mean / range);
  }
  if (worst.wrong_channels > 0 && worst.channels > 1) {
    text += ", " + std::to_string(worst.wrong_channels) + " of " + std::to_string(worst.channels) + " channels (";
    const uint32_t named = std::min<uint32_t>(worst.wrong_channels, 4);
    for (uint32_t i = 0; i < named; ++i) text += (i > 0 ? ", " : "") + std::to_string(worst.first_wrong[i]);
    text += worst.wrong_channels > named ? ", ...)" : ")";
  }
  return text + runs_text(result);
}

std::string place_text(const OperationView& operation) {
  return std::string(operation.name) + (operation.source[0] != '\0' ? " " : "") + operation.source;
}

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

size_t count(const PartReport& part, bool (*is)(const OperationReport&)) {
  return static_cast<size_t>(std::count_if(part.operations.begin(), part.operations.end(), is));
}

// Returns whether all faulty operations have a layout, and have it as NHWC: drivers may compute NCHW better.
bool are_faults_of_nhwc(const Patient& patient, const DeviceReport& device) {
  size_t faulty = 0;
  for (size_t number = 0; number < device.parts.size(); ++number) {
    const PartReport& found = device.parts[number];
    const OperationFacts facts(patient.parts[number].main(), *patient.parts[number].cutter);
    for (uint32_t i = 0; i < found.operations.size(); ++i) {
      if (!found.operations[i].is_faulty()) continue;
      if (!facts.has_layout(i) || facts.is_nchw(i)) return false;
      ++faulty;
    }
  }
  return faulty > 0;
}

// Returns the conclusion for the device, in one sentence.
std::string conclusion(const Patient& patient, const DeviceReport& device) {
  size_t faulty = 0, not_taken = 0, operations = 0;
  bool is_examined = false, is_rest_wrong = false, any_taken = false;
  for (const PartReport& part : device.parts) {
    faulty += count(part, [](const OperationReport& each) { return each.is_faulty(); });
    not_taken += count(part, [](const OperationReport& each) { return !each.is_taken; });
    operations += part.operations.size();
    is_examined = is_examined || part.was_examined;
    any_taken = any_taken || part.any_taken;
    is_rest_wrong = is_rest_wrong || is_fault(part.rest.finding);
  }
  std::string text;
  if (!any_taken) return "takes none of the operations";
  if (device.is_right()) {
    text = "right by the file's samples";
    if (faulty > 0) text += "; alone, " + std::to_string(faulty) + " operations are not";
  } else if (faulty > 0) {
    text = std::to_string(faulty) + " of " + std::to_string(operations) + " operations are wrong there";
    text += is_rest_wrong ? "" : "; the others together are right";
    if (device.feature_level >= kLevelOfNchw && are_faults_of_nhwc(patient, device)) {
      text += "; all that are wrong have NHWC: a file made with --nchw may be right, examine one, too";
    }
  } else {
    text = "wrong by the file's samples, but no operation differs from the expected values by more than may be";
  }
  if (device.computes_in_half()) text += "; it computes in half precision, which is no fault";
  if (not_taken > 0) text += "; it does not take " + std::to_string(not_taken) + " operations";
  for (const PartReport& part : device.parts) {
    if (part.copies_weights) text += "; it can't map the weights' file, the shim gives it a copy";
  }
  return text;
}

std::string operation_row(const OperationView& operation, uint32_t number, const OperationReport& found) {
  const bool is_in_place = is_fault(found.in_place.finding);
  const TrialResult& shown = is_in_place ? found.in_place : found.alone;
  char head[160], time[32] = "";
  if (found.alone.median_ns > 0) std::snprintf(time, sizeof time, "%.1f", microseconds(found.alone.median_ns));
  const std::string finding = std::string(name_of(shown.finding)) + (is_in_place ? " in place" : "");
  std::snprintf(head, sizeof head, "%5u  %-28s %-16s %10s  ", number, operation_name(operation), finding.c_str(), time);
  std::string text = head + error_text(shown);
  if (is_in_place && !found.after.empty()) text += "; after " + found.after;
  return text + (error_text(shown).empty() ? "" : "  ") + place_text(operation) + "\n";
}

std::string part_table(const Patient& patient, const PartReport& found, size_t number) {
  const Part& part = patient.parts[number];
  std::string text;
  if (patient.parts.size() > 1) text += "  segment " + std::to_string(number) + "\n";
  for (size_t i = 0; i < found.whole.size(); ++i) {
    const TrialResult& whole = found.whole[i];
    text += "  the whole model, sample " + std::to_string(i) + ": " + name_of(whole.finding);
    text += (whole.message.empty() ? "" : ", " + whole.message) + runs_text(whole) + "\n";
  }
  if (!found.was_examined) return text;
  text += "       operation                    finding          microseconds\n";
  for (uint32_t i = 0; i < found.operations.size(); ++i) {
    text += operation_row(part.main().operations[i], i, found.operations[i]);
  }
  return text;
}

std::string comparison_json(const TrialResult& result) {
  const Comparison& worst = result.worst;
  JsonObject error;
  error.number("worst", worst.worst)
      .number("mean", worst.mean)
      .number("range", worst.range)
      .text("unit", worst.is_quantised ? "quanta" : "elements")
      .add("elements", std::to_string(worst.elements))
      .add("wrong_elements", std::to_string(worst.wrong_elements))
      .add("not_a_number", std::to_string(worst.not_a_number))
      .add("channels", std::to_string(worst.channels))
      .add("wrong_channels", std::to_string(worst.wrong_channels));
  std::vector<std::string> named;
  for (uint32_t i = 0; i < std::min<uint32_t>(worst.wrong_channels, kNamedChannels); ++i) {
    named.push_back(std::to_string(worst.first_wrong[i]));
  }
  return error.add("first_wrong_channels", "[" + joined(named) + "]").close();
}

std::string result_json(const TrialResult& result) {
  JsonObject json;
  json.text("finding", name_of(result.finding));
  if (result.nnapi_code != 0) json.add("nnapi_code", std::to_string(result.nnapi_code));
  if (!result.message.empty()) json.text("message", result.message);
  if (result.wrong_runs > 0) {
    json.add("runs", std::to_string(result.runs)).add("wrong_runs", std::to_string(result.wrong_runs));
  }
  if (result.median_ns > 0) json.number("microseconds", microseconds(result.median_ns));
  if (result.worst.elements > 0) json.add("error", comparison_json(result));
  return json.close();
}

std::string operation_json(const Part& part, uint32_t number, const OperationReport& found) {
  const OperationView& operation = part.main().operations[number];
  const OperationFacts facts(part.main(), *part.cutter);
  JsonObject json;
  json.add("number", std::to_string(number)).text("operation", operation_name(operation));
  json.text("name", operation.name).text("source", operation.source);
  json.add("sizes", sizes_text(part.main().operands[operation.outputs[0]])).add("reads", facts.predecessors(number));
  json.add("inputs", std::to_string(operation.input_count));
  json.add("multiply_adds", std::to_string(facts.multiply_adds(number)));
  json.flag("is_taken", found.is_taken).add("alone", result_json(found.alone));
  if (found.added_ns) json.number("added_microseconds", microseconds(*found.added_ns));
  if (found.in_place.finding != Finding::kNotTried) json.add("in_place", result_json(found.in_place));
  if (!found.after.empty()) json.add("after", found.after);
  return json.close();
}

std::string lines(const std::vector<std::string>& items, const std::string& indent) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "\n" : ",\n") + indent + item;
  return "[" + text + (items.empty() ? "]" : "\n" + indent.substr(2) + "]");
}

std::string part_json(const Patient& patient, const PartReport& found, size_t number) {
  std::vector<std::string> whole, operations;
  for (const TrialResult& result : found.whole) whole.push_back(result_json(result));
  for (uint32_t i = 0; i < found.operations.size(); ++i) {
    operations.push_back(operation_json(patient.parts[number], i, found.operations[i]));
  }
  JsonObject json;
  json.flag("is_right", found.is_right()).flag("was_examined", found.was_examined);
  json.flag("copies_weights", found.copies_weights).add("sample", std::to_string(found.sample));
  json.add("whole", "[" + joined(whole) + "]").add("rest", result_json(found.rest));
  json.add("bisection_compilations", std::to_string(found.bisection_trials));
  return json.add("operations", lines(operations, "          ")).close();
}

// Joins the lines of JSON, for an object within another one; only files have one item on each line.
std::string on_one_line(const std::string& json) {
  std::string text;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '\n') {
      text += json[i];
      continue;
    }
    while (i + 1 < json.size() && json[i + 1] == ' ') ++i;
  }
  return text;
}

std::string device_json(const Patient& patient, const DeviceReport& device) {
  const std::vector<Remedy> remedies = find_remedies(patient, device);
  std::vector<std::string> parts;
  for (size_t i = 0; i < device.parts.size(); ++i) parts.push_back(part_json(patient, device.parts[i], i));
  JsonObject json;
  json.text("name", device.name).text("version", device.version);
  json.add("feature_level", std::to_string(device.feature_level)).flag("is_right", device.is_right());
  json.flag("computes_in_half_precision", device.computes_in_half()).text("conclusion", conclusion(patient, device));
  json.add("segments", lines(parts, "      "));
  json.add("driver_rules", on_one_line(driver_rules_json(driver_rules(device, remedies))));
  return json.add("device_profile", on_one_line(profile_json(patient, device, remedies))).close();
}

std::vector<std::string> texts_json(const std::vector<std::string>& texts) {
  std::vector<std::string> result;
  for (const std::string& text : texts) result.push_back(quoted(text));
  return result;
}

// An operation's times, for a line of the table.
struct TimeRow {
  size_t part;
  uint32_t number;
  uint64_t ns;
  std::optional<uint64_t> added_ns;
  // Returns the time that the operation adds, if it is known; otherwise its time alone.
  uint64_t cost() const { return added_ns.value_or(ns); }
};

std::string time_columns(const TimeRow& row, bool has_added, double sum) {
  char line[100];
  const double share = 100 * static_cast<double>(row.cost()) / sum;
  if (!has_added) {
    std::snprintf(line, sizeof line, "  %12.1f  %6.1f%%  ", microseconds(row.ns), share);
  } else if (row.added_ns) {
    std::snprintf(line, sizeof line, "  %9.1f  %9.1f  %6.1f%%  ", microseconds(*row.added_ns), microseconds(row.ns),
                  share);
  } else {
    std::snprintf(line, sizeof line, "  %9s  %9.1f  %7s  ", "-", microseconds(row.ns), "-");
  }
  return line;
}

}  // namespace

std::string table_text(const Patient& patient, const Report& report) {
  std::string text = "NNAPI feature level " + std::to_string(report.feature_level) + "; expected values by " +
                     (report.reference.empty() ? "what NNAPI chooses" : report.reference) + "\n";
  for (size_t i = 0; i < patient.parts.size(); ++i) {
    if (!report.disagree[i].empty()) {
      text += "segment " + std::to_string(i) +
              ": the expected values themselves differ from the file's samples: " + report.disagree[i] +
              "; no device is to blame for that\n";
    }
    if (!report.unknown[i].empty()) text += "segment " + std::to_string(i) + ": " + report.unknown[i] + "\n";
  }
  for (const DeviceReport& device : report.devices) {
    text += "\n" + device_text(device) + ": " + conclusion(patient, device) + "\n";
    for (size_t i = 0; i < device.parts.size(); ++i) text += part_table(patient, device.parts[i], i);
  }
  return text;
}

std::string times_text(const Patient& patient, const Report& report) {
  std::string text;
  for (const DeviceReport& device : report.devices) {
    std::vector<TimeRow> rows;
    uint64_t alone = 0, added = 0, whole = 0;
    bool has_added = false;
    for (size_t part = 0; part < device.parts.size(); ++part) {
      const PartReport& found = device.parts[part];
      if (!found.whole.empty()) whole += found.whole[0].median_ns;
      for (uint32_t i = 0; i < found.operations.size(); ++i) {
        const OperationReport& operation = found.operations[i];
        const uint64_t ns = operation.alone.median_ns;
        if (ns > 0 || operation.added_ns) rows.push_back({part, i, ns, operation.added_ns});
        alone += ns;
        added += operation.added_ns.value_or(0);
        has_added = has_added || operation.added_ns;
      }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const TimeRow& a, const TimeRow& b) { return a.cost() > b.cost(); });
    char line[400];
    std::snprintf(line, sizeof line,
                  "%s: the whole model takes %.0f microseconds, its operations alone %.0f together\n",
                  device_text(device).c_str(), microseconds(whole), microseconds(alone));
    text += std::string(text.empty() ? "" : "\n") + line;
    text += has_added ? "    adds us      alone    share  operation\n" : "  microseconds    share  operation\n";
    const auto sum = static_cast<double>(std::max<uint64_t>(has_added ? added : alone, 1));
    for (const TimeRow& row : rows) {
      const OperationView& operation = patient.parts[row.part].main().operations[row.number];
      text += time_columns(row, has_added, sum) + std::to_string(row.number) + " " +
              padded(operation_name(operation), 24) + " " + place_text(operation) + "\n";
    }
  }
  return text;
}

std::string report_json(const Patient& patient, const Report& report) {
  std::vector<std::string> devices;
  for (const DeviceReport& device : report.devices) devices.push_back(device_json(patient, device));
  return "{\n  \"version\": 1,\n  \"file\": " + quoted(patient.path) +
         ",\n  \"feature_level\": " + std::to_string(report.feature_level) +
         ",\n  \"reference\": " + quoted(report.reference) + ",\n  \"reference_disagrees\": [" +
         joined(texts_json(report.disagree)) + "]" + ",\n  \"without_expected_values\": [" +
         joined(texts_json(report.unknown)) + "]" + ",\n  \"devices\": " + lines(devices, "    ") + "\n}\n";
}

std::string trace_json(const Patient& patient, const Report& report) {
  std::vector<std::string> events;
  for (size_t row = 0; row < report.devices.size(); ++row) {
    const DeviceReport& device = report.devices[row];
    const std::string thread = std::to_string(row + 1);
    JsonObject name, arguments;
    arguments.text("name", device_text(device));
    name.text("name", "thread_name").text("ph", "M").add("pid", "1").add("tid", thread);
    events.push_back(name.add("args", arguments.close()).close());
    double begin = 0;
    for (size_t part = 0; part < device.parts.size(); ++part) {
      for (uint32_t i = 0; i < device.parts[part].operations.size(); ++i) {
        const OperationReport& found = device.parts[part].operations[i];
        const OperationView& operation = patient.parts[part].main().operations[i];
        if (found.alone.median_ns == 0) continue;
        char times[80];
        std::snprintf(times, sizeof times, "%.3f", begin);
        JsonObject event, about;
        about.add("number", std::to_string(i)).text("name", operation.name).text("source", operation.source);
        event.text("name", operation_name(operation)).text("ph", "X").add("pid", "1").add("tid", thread);
        event.add("ts", times);
        std::snprintf(times, sizeof times, "%.3f", microseconds(found.alone.median_ns));
        events.push_back(event.add("dur", times).add("args", about.close()).close());
        begin += microseconds(found.alone.median_ns);
      }
    }
  }
  return "{\"traceEvents\": " + lines(events, "  ") + "}\n";
}

}  // namespace nnapi_doctor
