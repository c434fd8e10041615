// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "lib/base/counted.h"
#include "lib/base/percent.h"
#include "lib/base/refusal_groups.h"
#include "lib/converter/plan/refused_model.h"
#include "lib/converter/report/calibration_json.h"
#include "lib/converter/report/json_values.h"
#include "lib/converter/report/mac_share.h"
#include "lib/format/operation_table.h"
#include "lib/litert/delegates.h"
#include "lib/nnapi/api_level.h"
#include "lib/nnapi/validate.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

json shape_json(const Dims& dims) {
  json shape = json::array();
  for (const Dim& dim : dims) shape.push_back(dim.is_fixed() ? json(dim.value()) : json(dim.text()));
  return shape;
}

json inputs_json(const Conversion& conversion) {
  json inputs = json::array();
  for (const InterfaceInput& input : conversion.interface.inputs) {
    inputs.push_back(input_json(input.name, input.type));
    inputs.back()["source"] = name_of(input.source);
  }
  return inputs;
}

// Counts the operations of a model and of its subgraphs.
void count_operations(const nnapi::Model& model, std::map<std::string, size_t>& counts) {
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) {
    for (const nnapi::Operation& operation : each->operations) ++counts[name_of(operation.code)];
  }
}

// Returns the numbers of operations of all segments.
std::map<std::string, size_t> operation_counts(const Conversion& conversion) {
  std::map<std::string, size_t> counts;
  for (const SegmentSummary& segment : conversion.segments) count_operations(segment.model, counts);
  return counts;
}

size_t total(const std::map<std::string, size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), size_t{0},
                         [](size_t sum, const auto& entry) { return sum + entry.second; });
}

json partition_json(const Conversion& conversion) {
  json segments = json::array();
  for (const SegmentSummary& segment : conversion.segments) {
    std::map<std::string, size_t> operations;
    count_operations(segment.model, operations);
    segments.push_back({{"macs", segment.uncounted == 0 ? json(segment.macs) : json(nullptr)},
                        {"inputs", segment.inputs},
                        {"outputs", segment.outputs},
                        {"input_bytes", optional_json(segment.input_bytes.value())},
                        {"output_bytes", optional_json(segment.output_bytes.value())},
                        {"operation_count", total(operations)},
                        {"operations", operations},
                        {"feature_level", nnapi::required_feature_level(segment.model)}});
    if (segment.rows) {
      segments.back()["rows"] = {{"per_call", segment.rows->per_call},
                                 {"estimate", segment.rows->expected.estimate},
                                 {"estimate_from", name_of(segment.rows->expected.source)}};
    }
    segments.back()["products"] = segment.products;
    if (!segment.places.empty()) segments.back()["inside"] = to_json(segment.places);
  }
  json cpu = json::array();
  for (const CpuNode& node : conversion.cpu_nodes) {
    cpu.push_back(refusal_json(node.reason));
    cpu.back()["macs"] = optional_json(node.macs);
    if (node.is_estimated) cpu.back()["is_estimated"] = true;
    if (!node.since.empty()) cpu.back()["since"] = node.since;
  }
  const MacShare macs = mac_share(conversion);
  return {{"mac_share", share_json(macs.share())},
          {"counted_mac_share", macs.of_counted(macs.nnapi)},
          {"estimated_mac_share", macs.of_counted(macs.estimated)},
          {"products", products_json(macs)},
          {"segments", segments},
          {"cpu", cpu}};
}

json diagnostics_json(const Diagnostics& diagnostics) {
  json refusals = json::array();
  for (const Refusal& refusal : diagnostics.refusals) refusals.push_back(refusal_json(refusal));
  return {{"refusals", refusals}, {"warnings", messages_of(diagnostics.warnings)}};
}

// Returns the number, or null for infinity, which JSON lacks: an exact result has no SNR.
json finite(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json histogram_json(const Histogram& histogram) {
  return {{"lowest", histogram.lowest},
          {"highest", histogram.highest},
          {"original", histogram.original},
          {"converted", histogram.converted}};
}

}  // namespace

json input_json(const std::string& name, const TensorType& type) {
  json entry = {{"name", name}, {"dtype", dtype_name(type.dtype)}, {"shape", shape_json(type.dims)}};
  if (type.is_quantized()) {
    entry["scale"] = type.quantization.scale;
    entry["zero_point"] = type.quantization.zero_point;
  }
  return entry;
}

json android_json(int feature_level, Runtime runtime) {
  const std::optional<int> promised = api_of_level(feature_level);
  if (!promised) return {{"min_api", nullptr}, {"version", nullptr}};
  const int api = runtime == Runtime::kPytorch ? std::max(kLoadersApi, *promised) : *promised;
  return {{"min_api", api}, {"version", android_of_api(api)}};
}

json to_json(const Verification& verification) {
  json outputs = json::array();
  for (const OutputComparison& output : verification.outputs) {
    outputs.push_back({{"shape", output.shape},
                       {"dtype", output.dtype},
                       {"max_error", finite(output.max_error)},
                       {"relative_error", finite(output.relative_error)},
                       {"snr_db", finite(output.snr_db)},
                       {"top1_agreement", output.top1},
                       {"quanta", output.quanta ? finite(*output.quanta) : json(nullptr)},
                       {"is_constant", output.is_constant},
                       {"ignores_input", output.ignores_input}});
    if (!output.histogram.original.empty()) outputs.back()["histogram"] = histogram_json(output.histogram);
  }
  json borders = json::array();
  for (const BorderFinding& finding : verification.borders) {
    borders.push_back({{"sample", finding.sample}, {"problem", finding.problem}, {"is_fault", finding.is_fault}});
  }
  json result = {{"passed", verification.passed},
                 {"samples", verification.samples},
                 {"border_samples", verification.border_samples},
                 {"borders", borders},
                 {"criterion", verification.criterion},
                 {"outputs", outputs}};
  if (verification.is_without_torch) result["without_torch"] = true;
  if (const auto& ties = verification.ties) {
    result["tied_rows"] = {{"rows", ties->rows},
                           {"moved", ties->moved},
                           {"at_the_cut", ties->at_the_cut},
                           {"without_partner", ties->without_partner}};
  }
  if (const auto& rounding = verification.rounding) {
    result["float64"] = {{"original", finite(rounding->original)}, {"converted", finite(rounding->converted)}};
  }
  for (const VariantVerification& variant : verification.variants) {
    json entry = to_json(variant.result);
    entry["name"] = variant.name;
    result["package"].push_back(std::move(entry));
  }
  if (const auto& original = verification.original) {
    result["original"] = {{"relative_error", finite(original->relative_error)}, {"snr_db", finite(original->snr_db)}};
  }
  if (const auto& reference = verification.reference) {
    result["reference"] = {
        {"original", reference->original}, {"converted", reference->converted}, {"ratio", finite(reference->ratio())}};
  }
  return result;
}

namespace {

json stored_weights_json(const StoredWeights& stored) {
  json weights = json::array();
  for (const StoredWeights::Weight& weight : stored.weights) {
    const char* other = stored.keeps_float16 ? "float16" : "float32";
    weights.push_back(
        {{"operation", weight.name}, {"elements", weight.elements}, {"stored_as", weight.is_int8 ? "int8" : other}});
  }
  return {{"error_of_range", stored.samples > 0 ? finite(stored.error) : json(nullptr)},
          {"samples", stored.samples},
          {"weights", weights}};
}

// Adds what is known of a conversion.
void add_conversion(json& report, const Conversion& conversion, const Diagnostics& diagnostics,
                    const std::optional<Verification>& verification) {
  report["quant"] = name_of(conversion.quant);
  report["feature_level"] = conversion.feature_level();
  report["android"] = android_json(conversion.feature_level(), conversion.runtime);
  report["inputs"] = inputs_json(conversion);
  const std::map<std::string, size_t> counts = operation_counts(conversion);
  report["operation_count"] = total(counts);
  report["operations"] = counts;
  if (!conversion.is_whole) report["partition"] = partition_json(conversion);
  report["weight_bytes"] = conversion.weight_bytes;
  report["buffer_bytes"] = conversion.buffer_bytes;
  for (const VariantSummary& variant : conversion.variants) {
    report["package"].push_back({{"name", variant.name},
                                 {"quant", name_of(variant.quant)},
                                 {"feature_level", variant.feature_level},
                                 {"operation_count", variant.operations},
                                 {"buffer_bytes", variant.buffer_bytes},
                                 {"weight_bytes", variant.weight_bytes},
                                 {"own_weight_bytes", variant.own_bytes}});
    if (variant.quantised) report["package"].back()["calibration"] = to_json(*variant.quantised);
    if (variant.stored_weights) {
      report["package"].back()["stored_weights"] = stored_weights_json(*variant.stored_weights);
    }
  }
  report["graph"] = to_json(conversion.graph);
  report.update(diagnostics_json(diagnostics));
  if (conversion.quantised) report["calibration"] = to_json(*conversion.quantised);
  for (const ResultSplit& split : conversion.splits) {
    report["split_results"].push_back({{"result", split.result}, {"axis", split.axis}, {"sizes", split.sizes}});
  }
  if (conversion.stored_weights) report["stored_weights"] = stored_weights_json(*conversion.stored_weights);
  if (verification) report["verification"] = to_json(*verification);
}

// Adds the sums over all methods.
void add_sums(json& report, Runtime runtime) {
  std::map<std::string, size_t> operations;
  int level = 1;
  size_t weights = 0, buffers = 0;
  for (const json& method : report["methods"]) {
    for (const auto& [name, count] : method["operations"].items()) operations[name] += count.get<size_t>();
    level = std::max(level, method["feature_level"].get<int>());
    weights += method["weight_bytes"].get<size_t>();
    buffers += method["buffer_bytes"].get<size_t>();
  }
  report["quant"] = report["methods"][0]["quant"];
  report["feature_level"] = level;
  report["android"] = android_json(level, runtime);
  report["operation_count"] = total(operations);
  report["operations"] = operations;
  report["weight_bytes"] = weights;
  report["buffer_bytes"] = buffers;
}

}  // namespace

json make_report(const std::string& model, const std::string& output, const Conversion& conversion,
                 const Diagnostics& diagnostics, const std::optional<Verification>& verification) {
  json report = {{"version", kReportVersion}, {"model", model}, {"output", output}, {"converted", true}};
  add_conversion(report, conversion, diagnostics, verification);
  return report;
}

json make_report(const std::string& model, const std::string& output, const Diagnostics& diagnostics,
                 const std::vector<MethodFindings>& methods) {
  json report = {{"version", kReportVersion}, {"model", model}, {"output", output}, {"converted", true}};
  report.update(diagnostics_json(diagnostics));
  report["methods"] = json::array();
  for (const MethodFindings& each : methods) {
    json entry = {{"method", each.method.name}};
    add_conversion(entry, each.method.conversion, each.method.diagnostics, each.verification);
    if (!each.target.is_null()) entry["target"] = each.target;
    report["methods"].push_back(std::move(entry));
  }
  add_sums(report, methods.at(0).method.conversion.runtime);
  return report;
}

json litert_json(const litert::File& file, const std::string& path, uint64_t bytes) {
  return {{"output", path},
          {"file_bytes", bytes},
          {"operators", litert::operator_counts(file)},
          {"not_on_gpu", litert::lacking_on_gpu(file)}};
}

namespace {

// The nodes that stay on the CPU for one reason.
struct CpuNodes {
  size_t count = 0;
  std::map<std::string, size_t> operators;
  std::vector<std::string> lines;  // of the model, each once
  std::vector<std::string> since;  // lines that the reason also names, without folders
};

void add_line(const std::string& line, std::vector<std::string>& lines) {
  const bool is_new = std::find(lines.begin(), lines.end(), line) == lines.end();
  if (is_new && !line.empty()) lines.push_back(line);
}

// Returns the most frequent operators first: "aten::add, aten::mul and 3 more".
std::string operators_text(const std::map<std::string, size_t>& operators) {
  constexpr size_t kShown = 6;
  std::vector<std::pair<std::string, size_t>> sorted(operators.begin(), operators.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(sorted.size(), kShown); ++i) names.push_back(sorted[i].first);
  const std::string text = fmt::format("{}", fmt::join(names, ", "));
  return sorted.size() > kShown ? text + fmt::format(" and {} more", sorted.size() - kShown) : text;
}

// Groups the nodes by their reason, the most frequent reason first.
std::vector<std::pair<std::string, CpuNodes>> by_reason(const std::vector<CpuNode>& nodes) {
  std::map<std::string, CpuNodes> result;
  for (const CpuNode& node : nodes) {
    Refusal reason = node.reason;
    reason.where.clear();
    reason.op.clear();
    CpuNodes& same = result[reason.message().substr(2)];  // the text behind ": "
    ++same.count;
    add_line(node.reason.where, same.lines);
    add_line(node.since.substr(node.since.rfind('/') + 1), same.since);
    ++same.operators[node.reason.op];
  }
  std::vector<std::pair<std::string, CpuNodes>> sorted(result.begin(), result.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  return sorted;
}

std::string headline(const MacShare& macs, size_t segments, bool has_cpu_nodes) {
  const std::string of_nnapi = counted(segments, "segment");
  if (!has_cpu_nodes) return fmt::format("all operations go to NNAPI, in {} that TorchScript calls", of_nnapi);
  return fmt::format("NNAPI can't run all of it: {} with {} go to NNAPI, the rest stays on the CPU{}", of_nnapi,
                     to_text(macs), limits_text(macs));
}

std::string row_text(const SegmentSummary& segment, size_t number, const MacShare& macs) {
  std::map<std::string, size_t> operations;
  count_operations(segment.model, operations);
  const bool is_counted = segment.uncounted == 0;
  std::string text =
      fmt::format("\n  {:<10} {:>10} {:>14} {:>6}% {:>7} {:>8} {:>10} {:>10} {:>6}", number, total(operations),
                  is_counted ? std::to_string(segment.macs) : "unknown", percent_text(segment.macs, macs.all),
                  segment.inputs, segment.outputs, text_or_unknown(segment.input_bytes.value()),
                  text_or_unknown(segment.output_bytes.value()), nnapi::required_feature_level(segment.model));
  if (segment.rows) {
    text += fmt::format("  {} a call, {} expected ({})", counted(segment.rows->per_call, "row"),
                        segment.rows->expected.estimate, name_of(segment.rows->expected.source));
  }
  if (!segment.places.empty()) text += (segment.rows ? ", " : "  ") + to_text(segment.places);
  return text;
}

}  // namespace

std::string partition_text(const Conversion& conversion) {
  const MacShare macs = mac_share(conversion);
  const size_t count = conversion.segments.size();
  std::string text = headline(macs, count, !conversion.cpu_nodes.empty());
  text += fmt::format("\n  {:<10} {:>10} {:>14} {:>7} {:>7} {:>8} {:>10} {:>10} {:>6}", "segment", "operations",
                      "multiply-adds", "share", "inputs", "outputs", "bytes in", "bytes out", "level");
  for (size_t i = 0; i < count; ++i) text += row_text(conversion.segments[i], i, macs);
  if (!conversion.cpu_nodes.empty()) text += "\n  on the CPU";
  for (const auto& [reason, nodes] : by_reason(conversion.cpu_nodes)) {
    text += fmt::format("\n  {:>5}  {}: {}", nodes.count, operators_text(nodes.operators), reason);
    if (!nodes.since.empty()) text += " at " + places_text(nodes.since);
    if (!nodes.lines.empty()) text += fmt::format(" (at {})", places_text(nodes.lines));
  }
  return text;
}

json make_failure_report(const std::string& model, const ConvertError& error, const Diagnostics& diagnostics) {
  json report = {{"version", kReportVersion}, {"model", model}, {"converted", false}, {"error", error.what()}};
  report.update(diagnostics_json(diagnostics));
  const auto* refused = dynamic_cast<const RefusedModel*>(&error);
  if (refused == nullptr || refused->graph().graph.steps.empty()) return report;
  report["graph"] = to_json(refused->graph().graph);
  report["graph"]["reasons"] = json::array();
  for (const Refusal& reason : refused->graph().reasons) report["graph"]["reasons"].push_back(refusal_json(reason));
  return report;
}

}  // namespace nnapi_convert
