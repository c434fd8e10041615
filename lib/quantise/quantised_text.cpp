// SPDX-License-Identifier: BSD-3-Clause
// Writes the text that the command prints about a quantised model.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/base/counted.h"
#include "lib/quantise/quantise_plan.h"

namespace nnapi_convert {
namespace {

std::string to_text(const quantise::Distance& distance) {
  const quantise::Interval interval = quantise::top1_interval(distance);
  const std::string bounds =
      distance.rows > 0 ? fmt::format(" ({:.1f} to {:.1f})", 100 * interval.lowest, 100 * interval.highest) : "";
  if (distance.is_of_integers) return fmt::format("{:.1f}% of the elements the same{}", 100 * distance.top1, bounds);
  return fmt::format("RMS {:.4g}, SNR {:.1f} dB, cosine {:.5f}, top-1 {:.1f}%{}", distance.rms, distance.snr_db,
                     distance.cosine, 100 * distance.top1, bounds);
}

std::string decibels(const std::optional<double>& snr) {
  return snr ? fmt::format("{:.1f}", *snr) : "-";
}

// Returns the operations that lose most, and advice about them.
std::string losses_text(const quantise::Report& report, const std::string& prefix) {
  constexpr size_t kShown = 10;
  const std::vector<const quantise::OperationLoss*> worst = quantise::worst_of(report.losses, kShown);
  if (worst.empty()) return "";
  std::string text =
      fmt::format("{}operations that lose most, SNR in dB:\n  {:<24} {:<20} {:>7} {:>9} {:>8} {:>11} {:>10}\n", prefix,
                  "operation", "result", "alone", "cumulated", "weights", "activations", "saturated");
  for (const quantise::OperationLoss* loss : worst) {
    text += fmt::format("  {:<24} {:<20} {:>7} {:>9} {:>8} {:>11} {:>9.2f}%\n", loss->code, loss->result,
                        decibels(loss->alone), decibels(loss->cumulated), decibels(loss->weights),
                        decibels(loss->activations), 100 * loss->saturated);
  }
  for (const std::string& advice : quantise::advice_on(report.losses)) text += fmt::format("{}{}\n", prefix, advice);
  return text;
}

std::string to_text(const quantise::Report& report, const std::string& prefix) {
  const size_t pools = report.choice.pool_layer_count();
  std::string text = fmt::format(
      "{}quantised {} of {} by {}, ranges by {}{}{}{}{}\n", prefix, report.integer_operations,
      counted(report.operations, "operation"), counted(report.calibration_samples, "sample"),
      quantise::name_of(report.method),
      report.refined_ranges > 0 ? fmt::format(", {} of them refined", report.refined_ranges) : "",
      pools > 0 ? ", " + counted(pools, "pool") + (pools == 1 ? " as a layer" : " as layers") : "",
      report.is_equalised ? ", layers equalised" : "", report.is_bias_corrected ? ", biases corrected" : "");
  for (const std::string& joint : report.uneven_joints) text += fmt::format("{}left float: {}\n", prefix, joint);
  if (!report.refused.empty()) {
    text += fmt::format("{}left float as the device refuses their integer form: {}\n", prefix,
                        fmt::join(report.refused, ", "));
  }
  if (!report.left_float.empty()) {
    text += fmt::format("{}left float to hold the target: {}\n", prefix, fmt::join(report.left_float, ", "));
  }
  return text + losses_text(report, prefix);
}

}  // namespace

std::string to_text(const quantise::QuantisedParts& quantised) {
  std::string text;
  for (const FedRange& input : quantised.fed) text += to_text(input);
  for (size_t i = 0; i < quantised.parts.size(); ++i) {
    const auto& report = quantised.parts[i].report;
    const std::string prefix = quantised.is_whole ? "" : fmt::format("segment {}: ", i);
    text += report ? to_text(*report, prefix) : fmt::format("{}float: {}\n", prefix, quantised.parts[i].left_float);
    if (report && !quantised.is_whole) {
      text += fmt::format("{}distance from float: {}\n", prefix, to_text(report->distance));
    }
  }
  const char* of_table = quantised.is_by_table ? ", as the table has it" : "";
  if (quantised.distance) {
    text += fmt::format("distance from float on {}{}: {}\n", counted(quantised.held_back_samples, "sample"), of_table,
                        to_text(*quantised.distance));
  } else {
    text += "the results have other sizes than the float model's, and no distance from them\n";
  }
  if (!quantised.class_source.empty()) text += quantised.class_source + "\n";
  if (quantised.accuracy) {
    text += fmt::format("accuracy on {}{}: {}\n", counted(quantised.accuracy->samples, "sample"), of_table,
                        to_text(*quantised.accuracy));
  }
  if (quantised.score) text += to_text(*quantised.score) + of_table + "\n";
  return text;
}

}  // namespace nnapi_convert
