// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/baseline.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/format/json_nesting.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

enum class Unit { kPercent, kAbsolute };

struct Metric {
  const char* name;  // the name of the limit, also shown in the table
  const char* key;   // the key in the summary
  int worse;         // 1: more is worse; -1: less is worse
  Unit unit;         // the unit of the limit
  double limit;
  double scale;  // factor from the summary's number to the table's
  const char* meaning;
};

constexpr std::array<Metric, 6> kMetrics = {{
    {"operations", "operation_count", 1, Unit::kPercent, 0, 1, "more operations, in percent"},
    {"size", "file_bytes", 1, Unit::kPercent, 1, 1, "larger file, in percent"},
    {"snr", "snr_db", -1, Unit::kAbsolute, 1, 1, "lower signal-to-noise ratio, in dB; measured with --verify"},
    {"mac-share", "mac_share", -1, Unit::kAbsolute, 0, 100, "fewer multiplications on NNAPI, in percent of all"},
    {"segments", "segments", 1, Unit::kAbsolute, 0, 1, "more pieces that run on NNAPI"},
    {"level", "feature_level", 1, Unit::kAbsolute, 0, 1, "higher feature level"},
}};

constexpr const char* kConverted = "converted";

std::string number_text(double value) {
  return std::isinf(value) ? "equal" : fmt::format("{:.10g}", std::round(value * 100) / 100);
}

// Writes the table of one comparison, row by row.
class Table {
 public:
  void add(const std::string& model, const std::string& what, const std::string& before, const std::string& now,
           const std::string& change, bool is_regression, const std::string& verdict) {
    rows_ += fmt::format("| {} | {} | {} | {} | {} | {} |\n", model, what, before, now, change,
                         is_regression ? "**" + verdict + "**" : verdict);
    regressions += is_regression ? 1 : 0;
    ++changes_;
  }

  std::string markdown() const {
    if (changes_ == 0) return "## Against the baseline\n\nNothing changed.\n";
    return fmt::format(
        "## Against the baseline\n\n{} changes, {} of them regressions.\n\n"
        "| model | what | before | now | change | |\n|---|---|---:|---:|---:|---|\n{}",
        changes_, regressions, rows_);
  }

  int regressions = 0;

 private:
  std::string rows_;
  int changes_ = 0;
};

bool is_snr(const Metric& metric) {
  return std::string(metric.name) == "snr";
}

// Returns the value of a metric. A null SNR means equal results.
double value_of(const json& entry, const Metric& metric) {
  const json& value = entry.at(metric.key);
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>() * metric.scale;
}

// Returns whether the entry has the metric. A share of multiply-adds is null if some are unknown.
bool is_measured(const json& entry, const Metric& metric) {
  return entry.contains(metric.key) && (is_snr(metric) || !entry[metric.key].is_null());
}

void compare_metric(const json& earlier, const json& now, const Metric& metric, double limit, Table& table) {
  const std::string name = now.at("name");
  if (!is_measured(earlier, metric)) return;
  const double before = value_of(earlier, metric);
  if (!is_measured(now, metric)) {
    table.add(name, metric.name, number_text(before), "-", "", true, "not measured");
    return;
  }
  const double after = value_of(now, metric);
  if (before == after) return;
  const double change = after - before;
  const double share = before == 0 ? std::numeric_limits<double>::infinity() : 100 * std::abs(change) / before;
  const bool is_worse = change * metric.worse > 0;
  const double size = metric.unit == Unit::kPercent ? share : std::abs(change);
  const bool is_regression = is_worse && size > limit;
  const std::string text = metric.unit == Unit::kPercent ? fmt::format("{}{:.2f} %", change > 0 ? "+" : "-", share)
                                                         : fmt::format("{}{}", change > 0 ? "+" : "",
                                                                       std::isinf(change) ? "" : number_text(change));
  const std::string verdict = !is_worse ? "better" : is_regression ? "worse" : "within the limit";
  table.add(name, metric.name, number_text(before), number_text(after), text, is_regression, verdict);
}

const json* find(const json& summary, const std::string& name) {
  for (const json& entry : summary.at("models")) {
    if (entry.at("name") == name) return &entry;
  }
  return nullptr;
}

void compare_model(const json& earlier, const json& now, const Limits& limits, Table& table) {
  const std::string before = earlier.at("status"), after = now.at("status");
  if (before != after) {
    const bool is_worse = after != kConverted;
    table.add(now.at("name"), "status", before, after, "", is_worse, is_worse ? "worse" : "better");
  }
  if (before != kConverted || after != kConverted) return;
  for (const Metric& metric : kMetrics) compare_metric(earlier, now, metric, limits.at(metric.name), table);
}

[[noreturn]] void refuse_summary(const std::string& path, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("{}: {}; a summary.json of nnapi-convert batch needed", path, problem));
}

// Checks exactly the parts of a summary that the comparison reads.
bool is_summary(const json& value) {
  if (!value.is_object() || value.value("version", json()) != 1) return false;
  if (!value.contains("models") || !value["models"].is_array()) return false;
  for (const json& entry : value["models"]) {
    if (!entry.is_object() || !entry.value("name", json()).is_string() || !entry.value("status", json()).is_string()) {
      return false;
    }
    for (const Metric& metric : kMetrics) {
      if (!entry.contains(metric.key)) continue;
      const bool may_be_null = is_snr(metric) || std::string(metric.name) == "mac-share";
      if (!entry[metric.key].is_number() && !(may_be_null && entry[metric.key].is_null())) return false;
    }
  }
  return true;
}

}  // namespace

Limits default_limits() {
  Limits limits;
  for (const Metric& metric : kMetrics) limits[metric.name] = metric.limit;
  return limits;
}

std::string limits_help() {
  std::string text;
  for (const Metric& metric : kMetrics)
    text += fmt::format("  {:<11} {} [{:g}]\n", metric.name, metric.meaning, metric.limit);
  return text;
}

void set_limit(Limits& limits, const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_number =
      error == std::errc() && end == number.data() + number.size() && std::isfinite(value) && value >= 0;
  if (limits.count(name) == 0 || !is_number) {
    std::string names;
    for (const Metric& metric : kMetrics) names += fmt::format("{}{}", names.empty() ? "" : ", ", metric.name);
    throw ConvertError(
        ExitCode::kUsage,
        fmt::format("--limit {}: write NAME=NUMBER, where NAME is one of {}, and NUMBER is 0 or more", text, names));
  }
  limits[name] = value;
}

json read_summary(const std::string& path) {
  std::string problem;
  const auto text = text_of_file(path, problem);
  if (!text) refuse_summary(path, problem);
  if (is_nested_too_deep(*text))
    refuse_summary(path, fmt::format("lists or objects more than {} deep", kMostNestedJson));
  json summary = json::parse(*text, nullptr, false);
  if (summary.is_discarded()) refuse_summary(path, "no JSON");
  if (!is_summary(summary)) refuse_summary(path, "no summary of version 1");
  return summary;
}

Comparison compare(const json& earlier, const json& now, const Limits& limits) {
  Table table;
  Comparison result;
  for (const json& entry : now.at("models")) {
    const std::string name = entry.at("name"), status = entry.at("status");
    if (const json* before = find(earlier, name)) {
      compare_model(*before, entry, limits, table);
    } else {
      table.add(name, "status", "-", status, "", false, "new");
      result.unknown_failures += status != kConverted ? 1 : 0;
    }
  }
  for (const json& entry : earlier.at("models")) {
    const std::string name = entry.at("name");
    if (find(now, name) == nullptr) table.add(name, "status", entry.at("status"), "-", "", true, "missing");
  }
  result.markdown = table.markdown();
  result.regressions = table.regressions;
  return result;
}

}  // namespace nnapi_convert
