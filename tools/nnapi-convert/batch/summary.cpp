// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "lib/base/counted.h"
#include "lib/format/utf8.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

constexpr int kSummaryVersion = 1;

// Returns the lowest SNR of all outputs; null if all results are equal.
json snr_of(const json& verification) {
  json lowest = nullptr;
  for (const json& output : verification.at("outputs")) {
    const json& snr = output.at("snr_db");
    if (!snr.is_null() && (lowest.is_null() || snr < lowest)) lowest = snr;
  }
  return lowest;
}

json model_json(const BatchModel& model, const Outcome& outcome) {
  json entry = {{"name", model.name},
                {"model", model.shown},
                {"options", to_arguments(model.options)},
                {"status", name_of(outcome.status)}};
  if (!outcome.error.empty()) entry["error"] = outcome.error;
  if (!outcome.outputs.empty()) entry["outputs"] = outcome.outputs;
  const json& report = outcome.report;
  if (report.is_null()) return entry;
  entry["warnings"] = report.at("warnings").size();
  entry["refusals"] = report.at("refusals").size();
  if (report.contains("verification")) entry["snr_db"] = snr_of(report["verification"]);
  if (!report.at("converted")) return entry;
  for (const char* key : {"operation_count", "feature_level", "quant", "weight_bytes", "buffer_bytes"}) {
    entry[key] = report.at(key);
  }
  if (outcome.status == Status::kConverted) entry["file_bytes"] = outcome.file_bytes;
  // Without a partition, NNAPI runs the whole model as one segment.
  const json partition = report.value("partition", json::object());
  entry["segments"] = partition.contains("segments") ? partition["segments"].size() : 1;
  entry["mac_share"] = partition.value("mac_share", json(1.0));
  return entry;
}

json counts_json(const std::vector<Outcome>& outcomes) {
  json counts = json::object();
  for (const Outcome& outcome : outcomes) {
    json& count = counts[name_of(outcome.status)];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  return counts;
}

constexpr size_t kColumns = 8;
using Row = std::array<std::string, kColumns>;

// Formats numbers for people; a dash stands for an unknown number.
Row row_of(const json& entry) {
  const auto number = [&](const char* key) { return entry.contains(key) ? entry[key].dump() : std::string("-"); };
  const auto shown = [&](const char* key, double unit, const char* format) {
    return entry.contains(key) ? fmt::format(fmt::runtime(format), entry[key].get<double>() / unit) : std::string("-");
  };
  const bool is_exact = entry.contains("snr_db") && entry["snr_db"].is_null();
  return {entry.at("name").get<std::string>(),
          entry.at("status").get<std::string>(),
          number("operation_count"),
          number("feature_level"),
          number("segments"),
          shown("file_bytes", kMegabyte, "{:.2f}"),
          is_exact ? "equal" : shown("snr_db", 1, "{:.1f}"),
          entry.value("warnings", 0) == 0 ? "" : number("warnings")};
}

const Row kTitles = {"model", "status", "operations", "level", "segments", "MB", "SNR dB", "warnings"};

std::string counts_text(const json& counts) {
  std::string text;
  for (const auto& [status, count] : counts.items()) {
    std::string words = status;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<int>(), words);
  }
  return text;
}

// Returns a text for XML 1.0. U+FFFD stands for bytes that are not UTF-8, as in JSON, and for the two characters of
// Unicode that XML lacks: names of files may hold any bytes.
std::string xml(const std::string& text) {
  constexpr const char* kReplacement = "\xef\xbf\xbd";
  std::string result;
  const auto* const end = reinterpret_cast<const uint8_t*>(text.data()) + text.size();
  for (const auto* at = reinterpret_cast<const uint8_t*>(text.data()); at != end;) {
    const size_t bytes = sign_bytes(at, end);
    const std::string sign(reinterpret_cast<const char*>(at), std::max<size_t>(bytes, 1));
    at += sign.size();
    if (bytes == 0 || sign == "\xef\xbf\xbe" || sign == "\xef\xbf\xbf") {
      result += kReplacement;
      continue;
    }
    if (bytes > 1) {
      result += sign;
      continue;
    }
    const char c = sign[0];
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return result;
}

// Returns whether the model itself failed ("failure" in JUnit's XML) and not the run ("error").
bool is_failure(Status status) {
  return status == Status::kRefused || status == Status::kVerificationFailed;
}

std::string junit_case(const BatchModel& model, const Outcome& outcome) {
  std::string text = fmt::format(R"(  <testcase classname="nnapi-convert.batch" name="{}" time="{:.3f}")",
                                 xml(model.name), outcome.seconds);
  if (outcome.status == Status::kConverted) return text + "/>\n";
  if (outcome.status == Status::kNotRun) return text + ">\n    <skipped/>\n  </testcase>\n";
  const char* element = is_failure(outcome.status) ? "failure" : "error";
  return text + fmt::format(">\n    <{0} type=\"{1}\" message=\"{2}\"/>\n  </testcase>\n", element,
                            name_of(outcome.status), xml(outcome.error));
}

}  // namespace

json summary_json(const Batch& batch) {
  json models = json::array();
  for (size_t i = 0; i < batch.models.size(); ++i) models.push_back(model_json(batch.models[i], batch.outcomes[i]));
  return {{"version", kSummaryVersion},
          {"program", batch.program},
          {"counts", counts_json(batch.outcomes)},
          {"models", std::move(models)}};
}

std::string summary_text(const Batch& batch) {
  const json summary = summary_json(batch);
  std::vector<Row> rows = {kTitles};
  for (const json& entry : summary["models"]) rows.push_back(row_of(entry));
  std::array<size_t, kColumns> widths = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = fmt::format("{:<{}}  {:<{}}", row[0], widths[0], row[1], widths[1]);
    for (size_t i = 2; i < kColumns; ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += "\n";
  for (const json& entry : summary["models"]) {
    if (entry.contains("error")) {
      text += fmt::format("{}: {}\n", entry["name"].get<std::string>(), entry["error"].get<std::string>());
    }
  }
  const auto up_to_date = std::count_if(batch.outcomes.begin(), batch.outcomes.end(),
                                        [](const Outcome& outcome) { return outcome.is_up_to_date; });
  return text + fmt::format("{}: {}; {} up to date; {:.1f} s, peak memory {:.0f} MB\n",
                            counted(batch.models.size(), "model"), counts_text(summary["counts"]), up_to_date,
                            batch.seconds, static_cast<double>(batch.peak_bytes) / kMegabyte);
}

std::string summary_markdown(const json& summary, const std::string& comparison) {
  std::string text = fmt::format("# Batch of {}\n\n{}: {}.\n\n|", summary["program"].get<std::string>(),
                                 counted(summary["models"].size(), "model"), counts_text(summary["counts"]));
  for (const std::string& title : kTitles) text += " " + title + " |";
  text += "\n|---|---|";
  for (size_t i = 2; i < kColumns; ++i) text += "---:|";
  for (const json& entry : summary["models"]) {
    text += "\n|";
    for (const std::string& cell : row_of(entry)) text += " " + cell + " |";
  }
  text += "\n";
  for (const json& entry : summary["models"]) {
    if (!entry.contains("error")) continue;
    text += fmt::format("\n**{}**, {}:\n\n```text\n{}\n```\n", entry["name"].get<std::string>(),
                        entry["status"].get<std::string>(), entry["error"].get<std::string>());
  }
  return comparison.empty() ? text : text + "\n" + comparison;
}

std::string summary_junit(const Batch& batch) {
  int failures = 0, errors = 0, skipped = 0;
  std::string cases;
  for (size_t i = 0; i < batch.models.size(); ++i) {
    const Status status = batch.outcomes[i].status;
    cases += junit_case(batch.models[i], batch.outcomes[i]);
    if (status == Status::kNotRun) {
      ++skipped;
    } else if (is_failure(status)) {
      ++failures;
    } else if (status != Status::kConverted) {
      ++errors;
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n{}</testsuite>\n",
      xml(batch.zoo), batch.models.size(), failures, errors, skipped, batch.seconds, cases);
}

}  // namespace nnapi_convert
