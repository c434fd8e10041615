// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/percent.h"
#include "lib/base/refusal_groups.h"
#include "lib/converter/emit/litert_file.h"
#include "lib/converter/frontend/bound_arguments.h"
#include "lib/converter/load/method_view.h"
#include "lib/converter/report/json_values.h"
#include "lib/converter/report/mac_share.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/cost.h"
#include "lib/nnapi/validate.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

// A row of the table, for one call of NNAPI.
struct Row {
  const nnapi::Model* model;
  Count macs;
  std::vector<BlockPlace> places = {};
};

std::vector<Row> rows_of(const CheckResult& result) {
  std::vector<Row> rows;
  if (!result.converts) return rows;
  for (const SegmentSummary& segment : result.conversion.segments) {
    const bool is_counted = segment.uncounted == 0;
    rows.push_back({&segment.model, is_counted ? Count(segment.macs) : Count(std::nullopt), segment.places});
  }
  return rows;
}

// Computes shares of the counted multiply-adds.
struct Shares {
  int64_t all = 0;
  bool is_whole = false;

  double of(const Row& row) const {
    if (is_whole) return 1;
    return all == 0 ? 0 : static_cast<double>(row.macs.value_or(0)) / static_cast<double>(all);
  }
  std::string text(const Row& row) const { return is_whole ? "100.0" : percent_text(row.macs.value_or(0), all); }
};

Shares shares_of(const CheckResult& result) {
  return {mac_share(result.conversion).all, result.conversion.is_whole};
}

std::map<std::string, size_t> operations_of(const nnapi::Model& model) {
  std::map<std::string, size_t> counts;
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) {
    for (const nnapi::Operation& operation : each->operations) ++counts[name_of(operation.code)];
  }
  return counts;
}

size_t operation_count(const nnapi::Model& model) {
  size_t count = 0;
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) count += each->operations.size();
  return count;
}

std::string headline(const CheckResult& result) {
  if (!result.converts) return "does not convert";
  if (result.conversion.is_whole) return "converts whole";
  const size_t count = result.conversion.segments.size();
  const MacShare macs = mac_share(result.conversion);
  return fmt::format("converts in {}, with {}{}", counted(count, "segment"), to_text(macs), limits_text(macs));
}

std::string segment_table(const CheckResult& result) {
  std::string text = fmt::format("  {:<8} {:>10} {:>14} {:>7} {:>11} {:>11} {:>6}\n", "segment", "operations",
                                 "multiply-adds", "share", "bytes in", "bytes out", "level");
  const Shares shares = shares_of(result);
  size_t number = 0;
  for (const Row& row : rows_of(result)) {
    text += fmt::format(
        "  {:<8} {:>10} {:>14} {:>6}% {:>11} {:>11} {:>6}{}\n", shares.is_whole ? "whole" : fmt::format("{}", number++),
        operation_count(*row.model), text_or_unknown(row.macs.value()), shares.text(row),
        text_or_unknown(byte_count(*row.model, row.model->inputs).value()),
        text_or_unknown(byte_count(*row.model, row.model->outputs).value()), nnapi::required_feature_level(*row.model),
        row.places.empty() ? "" : "  " + to_text(row.places));
  }
  return text;
}

// Lists the operations on the CPU: those that differ only in their lines once, with their number.
std::string cpu_text(const std::vector<CpuNode>& nodes) {
  std::vector<Refusal> reasons;
  for (const CpuNode& node : nodes) {
    reasons.push_back(node.reason);
    Refusal& reason = reasons.back();
    std::string& last = !reason.hint.empty() ? reason.hint : !reason.needed.empty() ? reason.needed : reason.found;
    if (!node.since.empty()) last += " at " + node.since.substr(node.since.rfind('/') + 1);
  }
  std::string text;
  for (const RefusalGroup& group : groups_of(reasons)) {
    Count macs = 0;
    for (const size_t member : group.members) macs += Count(nodes[member].macs);
    text += fmt::format("    {} ({} multiply-adds)\n", group.message(), text_or_unknown(macs.value()));
  }
  return text.empty() ? "" : "  on the CPU:\n" + text;
}

std::string refusals_text(const CheckResult& result) {
  if (result.converts) return cpu_text(result.conversion.cpu_nodes);
  std::string text;
  for (const RefusalGroup& group : groups_of(result.diagnostics.refusals)) text += "    " + group.message() + "\n";
  return text.empty() ? "" : "  refused:\n" + text;
}

json refusal_with_macs(const Refusal& refusal, const std::optional<int64_t>& macs) {
  json report = refusal_json(refusal);
  report["macs"] = optional_json(macs);
  return report;
}

// Also tries the other interfaces if the model was refused: they may show how it isn't. A float model's are all
// refused.
SpeedReport speed_of(const CheckResult& result, const LoadedModel& original, const ConvertOptions& options) {
  SpeedReport report;
  if (result.converts) report = explain_speed(result.conversion, options);
  if (result.converts && result.conversion.quant == QuantMode::kNone) return report;
  std::vector<QuantFit> fits = quant_fits(original, options);
  const bool any = std::any_of(fits.begin(), fits.end(), [](const QuantFit& fit) { return fit.converts; });
  if (any) report.quant = std::move(fits);
  return report;
}

}  // namespace

namespace {

LitertCheck check_litert(const CheckResult& result, bool keeps_uint8) {
  LitertCheck check;
  Diagnostics diagnostics;
  try {
    const litert::File file = make_litert_file(result.conversion, keeps_uint8, diagnostics);
    check.operators = litert::operator_counts(file);
    check.not_on_gpu = litert::lacking_on_gpu(file);
  } catch (const ConvertError& error) {
    check.error = error.what();
    check.refusals = std::move(diagnostics.refusals);
  }
  return check;
}

std::string counts_text(const litert::OperatorCounts& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", count, name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string litert_text(const LitertCheck& check) {
  if (!check.error.empty()) return "  LiteRT: " + check.error + "\n";
  size_t count = 0;
  for (const auto& [name, of_name] : check.operators) count += of_name;
  return fmt::format("  LiteRT: runs whole, {}{}\n", counted(count, "operator"),
                     check.not_on_gpu.empty() ? "" : "; its GPU delegate lacks: " + counts_text(check.not_on_gpu));
}

json litert_json(const LitertCheck& check) {
  json report = {{"runs", check.error.empty()}};
  if (check.error.empty()) {
    report["operators"] = check.operators;
    report["not_on_gpu"] = check.not_on_gpu;
    return report;
  }
  report["error"] = check.error;
  report["refusals"] = json::array();
  for (const Refusal& refusal : check.refusals) report["refusals"].push_back(refusal_json(refusal));
  return report;
}

bool may_be_open(const LoadedModel& loaded, const ConvertOptions& options) {
  const auto is_open = [](const ExportedTensor& tensor) {
    return std::any_of(tensor.sizes.begin(), tensor.sizes.end(), [](const auto& size) { return !size.number; });
  };
  return std::any_of(loaded.stated.begin(), loaded.stated.end(), is_open) ||
         std::any_of(options.inputs.begin(), options.inputs.end(), [](const InputSpec& spec) {
           return std::count(spec.sizes.begin(), spec.sizes.end(), std::nullopt) > 0;
         });
}

// Converts the model, or the one method of it that it has in the place of forward.
void check_loaded(CheckResult& result, LoadedModel loaded, const CheckRequest& request) {
  const ConvertOptions options = bind_arguments(loaded, request.options);
  // A copy keeps the weights in memory: other interfaces of a quantised model and other sizes need them.
  std::optional<LoadedModel> original;
  if (request.explain_speed || may_be_open(loaded, options)) original = loaded;
  Frontend frontend = make_frontend(std::exchange(loaded, {}), options);
  if (request.measure_loss) result.loss = measure_loss(frontend, options);
  try {
    // Methods are only planned: a method's module alone would lack the others.
    result.conversion = result.method.empty() ? convert(frontend, options, {}, {}, result.diagnostics)
                                              : plan_conversion(frontend, options, result.diagnostics);
    result.converts = true;
  } catch (const ConvertError& error) {
    if (error.exit_code() != ExitCode::kNotConvertible) throw;
    result.error = error.what();
  }
  if (result.converts) warn_of_small_model(result.conversion, options.segments, result.diagnostics);
  if (result.converts && request.litert) result.litert = check_litert(result, *request.litert);
  if (result.converts && original) result.open = open_cost(*original, options, result.conversion);
  if (request.explain_speed) result.speed = speed_of(result, *original, options);
}

}  // namespace

CheckResult check_model(const std::string& path, const CheckRequest& request) {
  CheckResult result;
  result.model = path;
  result.target_level = request.options.target_level();
  check_loaded(result, load_model(path, result.diagnostics), request);
  return result;
}

CheckResult check_model(const LoadedModel& loaded, const Diagnostics& of_loading, const CheckRequest& request) {
  CheckResult result;
  result.model = loaded.path;
  result.target_level = request.options.target_level();
  result.diagnostics = of_loading;
  check_loaded(result, loaded, request);
  return result;
}

std::vector<CheckResult> check_methods(const std::string& path, const std::vector<std::string>& methods,
                                       const CheckRequest& request) {
  Diagnostics of_loading;
  const LoadedModel loaded = load_model(path, of_loading);
  std::vector<CheckResult> results;
  for (const std::string& method : methods) {
    CheckRequest of_method = request;
    of_method.options = options_of_method(loaded, methods, method, request.options);
    CheckResult& result = results.emplace_back();
    result.model = path;
    result.method = method;
    result.target_level = request.options.target_level();
    result.diagnostics = of_loading;
    check_loaded(result, as_forward(loaded, method), of_method);
  }
  return results;
}

namespace {

// Joins several results of one original. `list` is the key of all of them; `name` is the key of the member
// `told_apart`.
json joined(const std::vector<CheckResult>& results, const char* list, const char* name,
            std::string CheckResult::*told_apart) {
  json report = {{"version", kCheckVersion}, {"model", results.at(0).model}, {"converts", true}};
  report[list] = json::array();
  for (const CheckResult& result : results) {
    report[list].push_back(to_json(result));
    report[list].back()[name] = result.*told_apart;
    if (!result.converts) report["converts"] = false;
  }
  return report;
}

}  // namespace

json to_json(const std::vector<CheckResult>& methods) {
  return joined(methods, "methods", "method", &CheckResult::method);
}

json package_json(const std::vector<CheckResult>& models) {
  return joined(models, "package", "name", &CheckResult::name);
}

std::string to_text(const CheckResult& result) {
  std::string part = result.method.empty() ? "" : " method " + result.method;
  if (!result.name.empty()) part = fmt::format(" ({})", result.name);
  std::string text = fmt::format("{}{} {}\n", result.model, part, headline(result));
  if (result.converts) {
    text += segment_table(result);
  } else if (result.diagnostics.refusals.empty()) {
    text += "  " + result.error + "\n";
  }
  text += refusals_text(result);
  if (result.open) text += to_text(*result.open);
  for (const std::string& line : summary_of(result.diagnostics.warnings)) text += "  warning: " + line + "\n";
  if (result.litert) text += litert_text(*result.litert);
  if (result.loss) text += "  " + to_text(*result.loss) + "\n";
  if (result.speed && (result.converts || !result.speed->quant.empty())) text += to_text(*result.speed);
  return text;
}

json to_json(const CheckResult& result) {
  json segments = json::array(), refusals = json::array();
  const Shares shares = shares_of(result);
  for (const Row& row : rows_of(result)) {
    segments.push_back({{"operation_count", operation_count(*row.model)},
                        {"operations", operations_of(*row.model)},
                        {"macs", optional_json(row.macs.value())},
                        {"share", shares.of(row)},
                        {"bytes_in", optional_json(byte_count(*row.model, row.model->inputs).value())},
                        {"bytes_out", optional_json(byte_count(*row.model, row.model->outputs).value())},
                        {"feature_level", nnapi::required_feature_level(*row.model)}});
    if (!row.places.empty()) segments.back()["inside"] = to_json(row.places);
  }
  for (const CpuNode& node : result.conversion.cpu_nodes) {
    refusals.push_back(refusal_with_macs(node.reason, node.macs));
    if (!node.since.empty()) refusals.back()["since"] = node.since;
  }
  if (!result.converts) {
    for (const Refusal& refusal : result.diagnostics.refusals)
      refusals.push_back(refusal_with_macs(refusal, std::nullopt));
  }
  const char* how = !result.converts ? "refused" : result.conversion.is_whole ? "whole" : "segments";
  json report = {{"version", kCheckVersion},
                 {"model", result.model},
                 {"converts", result.converts},
                 {"how", how},
                 {"segments", segments},
                 {"refusals", refusals},
                 {"target_feature_level", result.target_level},
                 {"warnings", messages_of(result.diagnostics.warnings)}};
  if (result.converts) {
    report["quant"] = name_of(result.conversion.quant);
    report["feature_level"] = result.conversion.feature_level();
  } else {
    report["error"] = result.error;
  }
  if (result.converts && !result.conversion.is_whole) report["products"] = products_json(mac_share(result.conversion));
  if (result.open) report["open"] = to_json(*result.open);
  if (result.litert) report["litert"] = litert_json(*result.litert);
  if (result.loss) report["target"] = to_json(*result.loss);
  if (result.speed) report["speed"] = to_json(*result.speed);
  return report;
}

}  // namespace nnapi_convert
