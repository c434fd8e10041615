// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/explain_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/percent.h"
#include "lib/converter/report/mac_share.h"
#include "lib/converter/report/target_loss.h"
#include "lib/nnapi/cost.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using nnapi::SpeedFinding;

constexpr size_t kManySegments = 3;

Count elements_of(const nnapi::Model& model, const std::vector<nnapi::Boundary>& boundaries) {
  Count count = 0;
  for (const nnapi::Boundary& boundary : boundaries) count += element_count(model.at(boundary.operand));
  return count;
}

// Multiplies the cost of one call by how often a segment for rows is called. The number of calls may be a fraction.
class Calls {
 public:
  explicit Calls(const SegmentSummary& segment) {
    if (!segment.rows || segment.rows->per_call == 0) return;
    factor_ = static_cast<double>(segment.rows->expected.estimate) / static_cast<double>(segment.rows->per_call);
  }
  Calls() = default;

  int64_t of(int64_t cost) const {
    if (factor_ == 1) return cost;
    constexpr double kMost = 9e18;
    return static_cast<int64_t>(std::min(factor_ * static_cast<double>(cost), kMost));
  }

 private:
  double factor_ = 1;
};

// True if NHWC puts the elements in another order than NCHW.
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
    int number = conversion_.is_whole ? -1 : 0;
    for (const SegmentSummary& segment : conversion_.segments) look_at(segment.model, number++, Calls(segment));
    check_segments();
    nnapi_macs_ = share_.nnapi;
    if (conversion_.is_whole) nnapi_macs_ = nnapi::multiply_adds(conversion_.segments[0].model);
    check_interface();
    report_.all_macs = share_.all;
    report_.counts_all = nnapi_macs_.is_known() && share_.counts_all();
    report_.is_judged = nnapi_macs_.is_known() && crossing_elements_.is_known();
    if (report_.is_judged) judge();
    report_.is_explained = true;
    return std::move(report_);
  }

 private:
  void add(int segment, SpeedFinding finding) { report_.findings.push_back({std::move(finding), segment}); }

  void look_at(const nnapi::Model& model, int segment, const Calls& calls) {
    for (SpeedFinding& finding : nnapi::speed_findings(model)) {
      finding.macs = calls.of(finding.macs);
      finding.bytes = calls.of(finding.bytes);
      add(segment, std::move(finding));
    }
    const Count handed_over = elements_of(model, model.inputs) + elements_of(model, model.outputs);
    crossing_elements_ += handed_over.is_known() ? Count(calls.of(handed_over.value_or(0))) : handed_over;
    const auto copies = [&](const std::vector<nnapi::Boundary>& boundaries, const char* what, const char* fix) {
      for (size_t i = 0; i < boundaries.size(); ++i) {
        if (!is_permuted(model, boundaries[i])) continue;
        const nnapi::Operand& operand = model.at(boundaries[i].operand);
        add(segment, {"boundary-copy", "",
                      fmt::format("{} {} is copied between NCHW and NHWC, {}", what, i, to_text(operand.dims)), fix, 0,
                      calls.of((byte_count(operand) * 2).value_or(0))});
      }
    };
    copies(model.inputs, "input", "hand over tensors in channels_last memory format, which are taken as they are");
    copies(model.outputs, "output", "end the model with what has no rows and columns left, such as a mean over them");
  }

  void check_segments() {
    Count bytes = 0;
    for (const SegmentSummary& segment : conversion_.segments) {
      const Count handed_over = segment.input_bytes + segment.output_bytes;
      bytes += handed_over.is_known() ? Count(Calls(segment).of(handed_over.value_or(0))) : handed_over;
    }
    const size_t count = conversion_.segments.size();
    if (count >= kManySegments) {
      add(-1, {"many-partitions", "", fmt::format("{} calls of NNAPI for one inference", count),
               "replace the operators that stay on the CPU, or keep the largest segments with --max-segments", 0,
               bytes.value_or(0)});
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
                 "use --quant full and hand over quantised tensors", 0, element_count(input.type.dims).value_or(0)});
      }
    }
    for (size_t i = 0; i < conversion_.interface.outputs.size(); ++i) {
      if (!conversion_.interface.outputs[i].dequantize) continue;
      add(-1, {"boundary-copy", "", fmt::format("output {} is dequantised on the CPU", i),
               "use --quant full and take quantised tensors", 0, 0});
    }
  }

  void judge() {
    const int64_t on_nnapi = nnapi_macs_.value_or(0), least = SegmentLimits::kMinMacs;
    if (on_nnapi - crossing_elements_.value_or(0) < least) {
      report_.slower.push_back(
          fmt::format("{} multiply-adds on NNAPI for {} elements handed over: less than the {} that a call is taken to "
                      "be worth",
                      on_nnapi, crossing_elements_.value_or(0), least));
    }
    if (2 * share_.uncounted > share_.products) {
      report_.slower.push_back(fmt::format("{} of {} convolutions and products stay on the CPU and can't be counted",
                                           share_.uncounted, share_.products));
    }
    const int64_t on_cpu = report_.all_macs - on_nnapi;
    if (on_cpu > on_nnapi) {
      report_.slower.push_back(fmt::format("{} % of the multiply-adds{} stay on the CPU",
                                           percent_text(on_cpu, report_.all_macs),
                                           report_.counts_all ? "" : " that can be counted"));
    }
    warn_of_forms();
  }

  // Warns of forms of operations that many drivers don't take.
  void warn_of_forms() {
    int64_t in_nchw = 0, padded = 0;
    for (const LocatedFinding& each : report_.findings) {
      if (each.finding.rule == "nchw") in_nchw += each.finding.macs;
      if (each.finding.rule == "padding-explicit") padded += each.finding.macs;
    }
    if (options_.device) return;  // a device takes the operations that it gets
    const auto warn_of_most = [&](int64_t macs, const char* what) {
      const int64_t on_nnapi = nnapi_macs_.value_or(0);
      if (macs <= on_nnapi - macs) return;
      report_.slower.push_back(
          fmt::format("{} % of the multiply-adds on NNAPI are {}, which many drivers leave to "
                      "NNAPI's CPU",
                      percent_text(std::min(macs, on_nnapi), on_nnapi), what));
    };
    warn_of_most(in_nchw, "in NCHW");
    warn_of_most(padded, "in convolutions with padding that is neither SAME nor VALID");
  }

  const Conversion& conversion_;
  const ConvertOptions& options_;
  const MacShare share_ = mac_share(conversion_);
  SpeedReport report_;
  Count nnapi_macs_ = 0, crossing_elements_ = 0;
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
    Frontend frontend = make_frontend(loaded, options);
    const Conversion conversion = plan_conversion(frontend, options, diagnostics);
    const Coverage coverage = coverage_of(conversion);
    fit.converts = true;
    fit.segments = coverage.segments;
    fit.operations = coverage.operations;
    fit.mac_share = coverage.mac_share();
    fit.on_cpu = coverage.on_cpu.size();
    for (const SegmentSummary& segment : conversion.segments) fit.float_operations += float_operations(segment.model);
  } catch (const ConvertError& error) {
    if (error.exit_code() != ExitCode::kNotConvertible) throw;
    const std::string message = error.what();
    fit.error = message.substr(0, message.find('\n'));
  }
  return fit;
}

// A group of equal findings about several operations.
struct Group {
  size_t count = 0;
  int64_t macs = 0, bytes = 0;
  std::vector<std::string> lines;
  std::set<std::string> fixes;
};

std::string cost_text(int64_t macs, int64_t bytes, const SpeedReport& report) {
  std::vector<std::string> parts;
  if (macs > 0 && report.all_macs > 0) {
    parts.push_back(fmt::format("{} % of the multiply-adds{}",
                                percent_text(std::min(macs, report.all_macs), report.all_macs),
                                report.counts_all ? "" : " that can be counted"));
  }
  if (bytes > 0) parts.push_back(counted(bytes, "byte") + " moved");
  return parts.empty() ? "not known" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

SpeedReport explain_speed(const Conversion& conversion, const ConvertOptions& options) {
  return Explanation(conversion, options).run();
}

void warn_of_small_model(const Conversion& conversion, const SegmentLimits& limits, Diagnostics& diagnostics) {
  const int64_t least = limits.min_macs.value_or(SegmentLimits::kMinMacs);
  if (!conversion.is_whole || conversion.segments[0].uncounted > 0) return;
  const nnapi::Model& model = conversion.segments[0].model;
  const int64_t macs = conversion.segments[0].macs;
  Count handed_over = 0;
  for (const nnapi::Boundary& each : model.inputs) handed_over += nnapi::element_count(model.at(each.operand));
  for (const nnapi::Boundary& each : model.outputs) handed_over += nnapi::element_count(model.at(each.operand));
  if (least == 0 || !handed_over.is_known() || macs - handed_over.value_or(0) >= least) return;
  diagnostics.warn(
      fmt::format("NNAPI is probably slower here than the CPU: the model saves less than {} multiply-adds, "
                  "less one for each element handed over: {} multiply-adds and {} elements found",
                  least, macs, handed_over.value_or(0)));
}

std::vector<QuantFit> quant_fits(const LoadedModel& loaded, const ConvertOptions& options) {
  std::vector<QuantFit> fits;
  for (const QuantMode mode : {QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    fits.push_back(fit_of(loaded, options, mode));
  }
  return fits;
}

namespace {

std::string fit_text(const QuantFit& fit) {
  if (!fit.converts) return fmt::format("  --quant {}: does not convert: {}\n", name_of(fit.mode), fit.error);
  std::string how = "whole";
  if (!fit.is_whole()) how = fmt::format("{}, {} on the CPU", counted(fit.segments, "segment"), fit.on_cpu);
  return fmt::format("  --quant {}: {}, {}, {} of them on float tensors{}\n", name_of(fit.mode), how,
                     counted(fit.operations, "operation"), fit.float_operations, fit.fits() ? "; fits" : "");
}

std::string verdict_text(const SpeedReport& report) {
  if (!report.is_judged) return "  whether NNAPI is slower than the CPU isn't known: sizes are flexible\n";
  if (report.slower.empty()) {
    return fmt::format("  NNAPI is probably not slower than the CPU{}\n",
                       report.counts_all ? "" : ", as far as multiply-adds can be counted");
  }
  std::string text = "  NNAPI is probably slower than the CPU:\n";
  for (const std::string& reason : report.slower) text += "    " + reason + "\n";
  return text;
}

}  // namespace

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
  const bool has_nothing = report.findings.empty() && report.slower.empty() && report.is_explained;
  std::string text = has_nothing ? "speed: no finding\n" : "speed:\n";
  for (const auto& [rule, group] : groups) {
    text += fmt::format("  {}: {}; {}\n", rule, counted(group.count, "finding"),
                        cost_text(group.macs, group.bytes, report));
    for (const std::string& line : group.lines) text += line + "\n";
    for (const std::string& fix : group.fixes) text += fmt::format("    fix: {}\n", fix);
  }
  for (const QuantFit& fit : report.quant) text += fit_text(fit);
  return report.is_explained ? text + verdict_text(report) : text;
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
      entry["on_cpu"] = fit.on_cpu;
      entry["mac_share"] = share_json(fit.mac_share);
    } else {
      entry["error"] = fit.error;
    }
    quant.push_back(std::move(entry));
  }
  return {{"findings", findings},
          {"macs", report.all_macs},
          {"counts_all", report.counts_all},
          {"probably_slower", report.is_judged ? json(!report.slower.empty()) : json(nullptr)},
          {"reasons", report.slower},
          {"quant", quant}};
}

}  // namespace nnapi_convert
