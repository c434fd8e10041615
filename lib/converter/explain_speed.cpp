#include "lib/converter/explain_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/base/error.h"
#include "lib/converter/mac_share.h"
#include "lib/converter/target_loss.h"
#include "lib/nnapi/cost.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using nnapi::SpeedFinding;

constexpr size_t kManySegments = 3;

int64_t bytes_of(const nnapi::Model& model, const std::vector<nnapi::Boundary>& boundaries) {
  int64_t bytes = 0;
  for (const nnapi::Boundary& boundary : boundaries) bytes += byte_count(model.at(boundary.operand)).value_or(0);
  return bytes;
}

int64_t elements_of(const nnapi::Model& model, const std::vector<nnapi::Boundary>& boundaries) {
  int64_t count = 0;
  for (const nnapi::Boundary& boundary : boundaries) {
    const nnapi::Operand& operand = model.at(boundary.operand);
    int64_t elements = 1;
    for (const Dim& dim : operand.dims) elements *= dim.fixed_value().value_or(0);
    count += elements;
  }
  return count;
}

int64_t crossing_bytes(const nnapi::Model& model) {
  return bytes_of(model, model.inputs) + bytes_of(model, model.outputs);
}

// True if NHWC orders the elements otherwise than NCHW.
bool is_permuted(const nnapi::Model& model, const nnapi::Boundary& boundary) {
  if (!boundary.nhwc) return false;
  const Dims& nhwc = model.at(boundary.operand).dims;
  return nhwc.size() == 4 && nhwc[3] != Dim(1) && nhwc[1] * nhwc[2] != Dim(1);
}

class Explanation {
 public:
  Explanation(const Conversion& conversion, const ConvertOptions& options)
      : conversion_(conversion), options_(options) {}

  SpeedReport run() {
    if (conversion_.is_partitioned()) {
      int number = 0;
      for (const SegmentSummary& segment : conversion_.segments) look_at(segment.model, number++);
      check_segments();
    } else {
      look_at(conversion_.model, -1);
    }
    check_interface();
    for (const CpuNode& node : conversion_.cpu_nodes) report_.all_macs += node.macs.value_or(0);
    judge();
    return std::move(report_);
  }

 private:
  void add(int segment, SpeedFinding finding) { report_.findings.push_back({std::move(finding), segment}); }

  void look_at(const nnapi::Model& model, int segment) {
    for (SpeedFinding& finding : nnapi::speed_findings(model)) add(segment, std::move(finding));
    const int64_t macs = nnapi::multiply_adds(model);
    report_.all_macs += macs;
    nnapi_macs_ += macs;
    crossing_elements_ += elements_of(model, model.inputs) + elements_of(model, model.outputs);
    const auto copies = [&](const std::vector<nnapi::Boundary>& boundaries, const char* what, const char* fix) {
      for (size_t i = 0; i < boundaries.size(); ++i) {
        if (!is_permuted(model, boundaries[i])) continue;
        const nnapi::Operand& operand = model.at(boundaries[i].operand);
        add(segment, {"boundary-copy", "",
                      fmt::format("{} {} is copied between NCHW and NHWC, {}", what, i, to_text(operand.dims)), fix, 0,
                      2 * byte_count(operand).value_or(0)});
      }
    };
    copies(model.inputs, "input", "hand over tensors in channels_last memory format, which are taken as they are");
    copies(model.outputs, "output", "end the model with what has no rows and columns left, such as a mean over them");
  }

  void check_segments() {
    int64_t bytes = 0;
    for (const SegmentSummary& segment : conversion_.segments) bytes += crossing_bytes(segment.model);
    const size_t count = conversion_.segments.size();
    if (count >= kManySegments) {
      add(-1,
          {"many-partitions", "", fmt::format("{} calls of NNAPI for one inference", count),
           "replace the operators that stay on the CPU, or keep the largest segments with --max-segments", 0, bytes});
    }
  }

  void check_interface() {
    for (size_t i = 0; i < conversion_.interface.inputs.size(); ++i) {
      const InterfaceInput& input = conversion_.interface.inputs[i];
      if (!all_fixed(input.type.dims)) {
        add(-1, {"unknown-dimension", "", fmt::format("input {} is {}", input.name, to_text(input.type.dims)),
                 "give every size with --input, and convert once for each size that is used", 0, 0});
      }
      if (input.quantize) {
        add(-1, {"boundary-copy", "", fmt::format("input {} is quantised on the CPU", input.name),
                 "use --quant full and hand over quantised tensors", 0, elements(input.type.dims)});
      }
    }
    for (size_t i = 0; i < conversion_.interface.outputs.size(); ++i) {
      if (!conversion_.interface.outputs[i].dequantize) continue;
      add(-1, {"boundary-copy", "", fmt::format("output {} is dequantised on the CPU", i),
               "use --quant full and take quantised tensors", 0, 0});
    }
  }

  static int64_t elements(const Dims& dims) { return product(dims).fixed_value().value_or(0); }

  void judge() {
    report_.is_judged = true;
    const int64_t least = SegmentLimits::kMinMacs;
    const int64_t worth = nnapi_macs_ - crossing_elements_;
    if (worth < least) {
      report_.slower.push_back(
          fmt::format("{} multiply-adds on NNAPI for {} elements handed over: less than the {} that a call is taken to "
                      "be worth",
                      nnapi_macs_, crossing_elements_, least));
    }
    const MacShare share = mac_share(conversion_);
    if (2 * share.uncounted > share.products) {
      report_.slower.push_back(fmt::format("{} of {} convolutions and products stay on the CPU and can't be counted",
                                           share.uncounted, share.products));
    }
    if (2 * nnapi_macs_ < report_.all_macs) {
      report_.slower.push_back(fmt::format(
          "{:.1f} % of the multiply-adds{} stay on the CPU",
          100.0 * static_cast<double>(report_.all_macs - nnapi_macs_) / static_cast<double>(report_.all_macs),
          share.uncounted > 0 ? " that can be counted" : ""));
    }
    int64_t in_nchw = 0, padded = 0;
    for (const LocatedFinding& each : report_.findings) {
      if (each.finding.rule == "nchw") in_nchw += each.finding.macs;
      if (each.finding.rule == "padding-explicit") padded += each.finding.macs;
    }
    if (options_.device) return;  // takes what is sent
    const auto warn_of_most = [&](int64_t macs, const char* what) {
      if (2 * macs <= nnapi_macs_) return;
      report_.slower.push_back(
          fmt::format("{:.1f} % of the multiply-adds on NNAPI are {}, which many drivers leave to "
                      "NNAPI's CPU",
                      100.0 * static_cast<double>(macs) / static_cast<double>(nnapi_macs_), what));
    };
    warn_of_most(in_nchw, "in NCHW");
    warn_of_most(padded, "in convolutions with padding that is neither SAME nor VALID");
  }

  const Conversion& conversion_;
  const ConvertOptions& options_;
  SpeedReport report_;
  int64_t nnapi_macs_ = 0, crossing_elements_ = 0;
};

size_t float_operations(const nnapi::Model& model) {
  size_t count = 0;
  for (const nnapi::Model* each : nnapi::with_subgraphs(model)) {
    count += static_cast<size_t>(
        std::count_if(each->operations.begin(), each->operations.end(), [each](const nnapi::Operation& operation) {
          const auto is_float = [each](nnapi::OperandId id) {
            return each->at(id).type == OperandCode::TENSOR_FLOAT32;
          };
          return std::any_of(operation.inputs.begin(), operation.inputs.end(), is_float) ||
                 std::any_of(operation.outputs.begin(), operation.outputs.end(), is_float);
        }));
  }
  return count;
}

QuantFit fit_of(const LoadedModel& loaded, ConvertOptions options, QuantMode mode) {
  options.quant = mode;
  options.on_stage = nullptr;
  options.on_dump = nullptr;
  QuantFit fit;
  fit.mode = mode;
  Diagnostics diagnostics;
  try {
    const Conversion conversion = plan_conversion(loaded, options, diagnostics);
    const Coverage coverage = coverage_of(conversion);
    fit.converts = true;
    fit.segments = coverage.segments;
    fit.operations = coverage.operations;
    fit.mac_share = coverage.mac_share;
    fit.float_operations = float_operations(conversion.model);
    for (const SegmentSummary& segment : conversion.segments) fit.float_operations += float_operations(segment.model);
  } catch (const ConvertError& error) {
    if (error.exit_code() != ExitCode::kNotConvertible) throw;
    const std::string message = error.what();
    fit.error = message.substr(0, message.find('\n'));
  }
  return fit;
}

// Findings that say the same of several operations.
struct Group {
  size_t count = 0;
  int64_t macs = 0, bytes = 0;
  std::vector<std::string> lines;
  std::set<std::string> fixes;
};

std::string cost_text(int64_t macs, int64_t bytes, int64_t all_macs) {
  std::vector<std::string> parts;
  if (macs > 0 && all_macs > 0) {
    parts.push_back(fmt::format("{:.1f} % of the multiply-adds",
                                100.0 * static_cast<double>(macs) / static_cast<double>(all_macs)));
  }
  if (bytes > 0) parts.push_back(fmt::format("{} bytes moved", bytes));
  return parts.empty() ? "not known" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

SpeedReport explain_speed(const Conversion& conversion, const ConvertOptions& options) {
  return Explanation(conversion, options).run();
}

std::vector<QuantFit> quant_fits(const LoadedModel& loaded, const ConvertOptions& options) {
  std::vector<QuantFit> fits;
  for (const QuantMode mode : {QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    fits.push_back(fit_of(loaded, options, mode));
  }
  return fits;
}

std::string to_text(const SpeedReport& report) {
  std::map<std::string, Group> groups;
  for (const LocatedFinding& each : report.findings) {
    const SpeedFinding& finding = each.finding;
    Group& group = groups[finding.rule];
    ++group.count;
    group.macs += finding.macs;
    group.bytes += finding.bytes;
    group.lines.push_back(fmt::format("    {}{}{}", finding.where.empty() ? "" : finding.where + ": ", finding.found,
                                      each.segment < 0 ? "" : fmt::format(" (segment {})", each.segment)));
    group.fixes.insert(finding.fix);
  }
  std::string text = report.is_judged && report.findings.empty() ? "speed: no finding\n" : "speed:\n";
  for (const auto& [rule, group] : groups) {
    text += fmt::format("  {}: {} finding{}; {}\n", rule, group.count, group.count == 1 ? "" : "s",
                        cost_text(group.macs, group.bytes, report.all_macs));
    for (const std::string& line : group.lines) text += line + "\n";
    for (const std::string& fix : group.fixes) text += fmt::format("    fix: {}\n", fix);
  }
  for (const QuantFit& fit : report.quant) {
    text += fmt::format("  --quant {}: ", name_of(fit.mode));
    if (fit.converts) {
      text += fmt::format("{}, {} operations, {} of them on float tensors{}\n",
                          fit.mac_share == 1 && fit.segments == 1 ? "whole" : fmt::format("{} segments", fit.segments),
                          fit.operations, fit.float_operations, fit.fits() ? "; fits" : "");
    } else {
      text += fmt::format("does not convert: {}\n", fit.error);
    }
  }
  if (!report.is_judged) return text;
  if (report.slower.empty()) return text + "  NNAPI is probably not slower than the CPU\n";
  text += "  NNAPI is probably slower than the CPU:\n";
  for (const std::string& reason : report.slower) text += "    " + reason + "\n";
  return text;
}

json to_json(const SpeedReport& report) {
  json findings = json::array(), quant = json::array();
  for (const LocatedFinding& each : report.findings) {
    const SpeedFinding& finding = each.finding;
    findings.push_back({{"rule", finding.rule},
                        {"where", finding.where},
                        {"segment", each.segment < 0 ? json(nullptr) : json(each.segment)},
                        {"found", finding.found},
                        {"macs", finding.macs},
                        {"bytes", finding.bytes},
                        {"fix", finding.fix}});
  }
  for (const QuantFit& fit : report.quant) {
    json entry = {{"mode", name_of(fit.mode)}, {"fits", fit.fits()}, {"converts", fit.converts}};
    if (fit.converts) {
      entry["segments"] = fit.segments;
      entry["operation_count"] = fit.operations;
      entry["float_operation_count"] = fit.float_operations;
      entry["mac_share"] = fit.mac_share;
    } else {
      entry["error"] = fit.error;
    }
    quant.push_back(std::move(entry));
  }
  return {{"findings", findings},
          {"macs", report.all_macs},
          {"probably_slower", report.is_judged ? json(!report.slower.empty()) : json(nullptr)},
          {"reasons", report.slower},
          {"quant", quant}};
}

}  // namespace nnapi_convert
