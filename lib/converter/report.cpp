#include "lib/converter/report.h"

#include <cmath>
#include <map>
#include <numeric>

#include "lib/format/operation_table.h"
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
    json entry = {
        {"name", input.name}, {"dtype", dtype_name(input.type.dtype)}, {"shape", shape_json(input.type.dims)}};
    if (input.type.is_quantized()) {
      entry["scale"] = input.type.quantization.scale;
      entry["zero_point"] = input.type.quantization.zero_point;
    }
    inputs.push_back(std::move(entry));
  }
  return inputs;
}

// Those of subgraphs too.
std::map<std::string, size_t> operation_counts(const nnapi::Model& model) {
  std::map<std::string, size_t> counts;
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) {
    for (const nnapi::Operation& operation : each->operations) ++counts[name_of(operation.code)];
  }
  return counts;
}

json diagnostics_json(const Diagnostics& diagnostics) {
  json refusals = json::array();
  for (const Refusal& refusal : diagnostics.refusals) {
    refusals.push_back({{"where", refusal.where},
                        {"op", refusal.op},
                        {"found", refusal.found},
                        {"needed", refusal.needed},
                        {"hint", refusal.hint}});
  }
  return {{"refusals", refusals}, {"warnings", diagnostics.warnings}};
}

// JSON has no infinity: an exact result has no SNR.
json finite(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

}  // namespace

json to_json(const Verification& verification) {
  json outputs = json::array();
  for (const OutputComparison& output : verification.outputs) {
    outputs.push_back({{"shape", output.shape},
                       {"dtype", output.dtype},
                       {"max_error", finite(output.max_error)},
                       {"relative_error", finite(output.relative_error)},
                       {"snr_db", finite(output.snr_db)},
                       {"top1_agreement", output.top1},
                       {"is_constant", output.is_constant}});
  }
  json result = {{"passed", verification.passed},
                 {"samples", verification.samples},
                 {"criterion", verification.criterion},
                 {"outputs", outputs}};
  if (const auto& reference = verification.reference) {
    result["reference"] = {
        {"original", reference->original}, {"converted", reference->converted}, {"ratio", finite(reference->ratio())}};
  }
  return result;
}

json make_report(const std::string& model, const std::string& output, const Conversion& conversion,
                 const Diagnostics& diagnostics, const std::optional<Verification>& verification) {
  json report = {{"version", kReportVersion}, {"model", model}, {"output", output}, {"converted", true}};
  report["quant"] = name_of(conversion.quant);
  report["feature_level"] = nnapi::required_feature_level(conversion.model);
  report["inputs"] = inputs_json(conversion);
  const std::map<std::string, size_t> counts = operation_counts(conversion.model);
  report["operation_count"] = std::accumulate(counts.begin(), counts.end(), size_t{0},
                                              [](size_t sum, const auto& entry) { return sum + entry.second; });
  report["operations"] = counts;
  report["weight_bytes"] = conversion.weight_bytes;
  report["buffer_bytes"] = conversion.buffer_bytes;
  report.update(diagnostics_json(diagnostics));
  if (verification) report["verification"] = to_json(*verification);
  return report;
}

json make_failure_report(const std::string& model, const std::string& error, const Diagnostics& diagnostics) {
  json report = {{"version", kReportVersion}, {"model", model}, {"converted", false}, {"error", error}};
  report.update(diagnostics_json(diagnostics));
  return report;
}

}  // namespace nnapi_convert
