// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/counted.h"

namespace nnapi_convert {
namespace {

// True if the output is of integers, which may be chosen, as by argmax, and most of them are the same.
bool are_mostly_same(const OutputComparison& output) {
  return output.is_integral && output.top1 >= VerifyDefaults::kSameIntegers;
}

// Says in words what are_mostly_same() needs; empty without an output of integers.
std::string or_mostly_same(const Verification& result) {
  const bool has_integers = std::any_of(result.outputs.begin(), result.outputs.end(),
                                        [](const OutputComparison& output) { return output.is_integral; });
  return has_integers ? fmt::format(", or {:.0f}% of integers the same", 100 * VerifyDefaults::kSameIntegers) : "";
}

// True if a quantised model's outputs are near enough. A model that data quantised may choose otherwise here and there.
bool are_near(const Verification& result, double needed_snr) {
  return std::all_of(result.outputs.begin(), result.outputs.end(), [&](const OutputComparison& output) {
    return output.snr_db >= needed_snr || (result.is_calibrated && are_mostly_same(output));
  });
}

// Says in words what are_near() needs.
std::string nearness(const Verification& result, const std::string& needed_snr) {
  return fmt::format("SNR of at least {} dB{}", needed_snr, result.is_calibrated ? or_mostly_same(result) : "");
}

// Returns how near a model quantised by data has to be, in dB.
double needed_of_calibrated(const Verification& result, const VerifyRequest& request) {
  using Defaults = VerifyDefaults;
  const double measured = std::min(*result.calibrated_snr, Defaults::kMostCalibratedSnr);
  if (!request.inputs_file.empty()) return std::max(measured - Defaults::kCalibratedMargin, Defaults::kUnlikeSnr);
  return result.is_within_ranges ? Defaults::kMadeUpSnr : Defaults::kUnlikeSnr;
}

// Judges a model quantised by data.
void judge_calibrated(Verification& result, const VerifyRequest& request) {
  const double needed = needed_of_calibrated(result, request);
  const bool is_like_data = !request.inputs_file.empty();
  result.criterion = nearness(result, fmt::format("{:.1f}", needed));
  if (is_like_data) {
    result.criterion += fmt::format(", calibration measured {:.1f} dB{}", *result.calibrated_snr,
                                    request.hold_back ? " on the same samples, which it held back" : "");
  }
  if (!is_like_data) {
    result.criterion += fmt::format(
        "; the inputs were random{}, unlike the data of the calibration, which measured {:.1f} dB: give such with {} "
        "to judge by that",
        result.is_within_ranges ? " within the data's ranges" : "", *result.calibrated_snr,
        request.is_of_conversion ? "--verify-inputs" : "--inputs");
  }
  result.passed = are_near(result, needed);
}

// Returns lines on special samples, matched rows and rounding; often empty.
std::string notes_text(const Verification& verification) {
  std::string text;
  if (verification.are_floats_shares) {
    text += "made-up floats are from 0 to 1: of numbers from N(0, 1) the original makes infinite ones or NaN\n";
  }
  if (const auto& ties = verification.ties) {
    text += fmt::format(
        "rows that scores order are compared by score and values, as equal scores have no order: of {} {} at another "
        "place, {} without a partner among rows as low as the last, {} without a partner elsewhere\n",
        counted(ties->rows, "row"), ties->moved == 1 ? "1 is" : fmt::format("{} are", ties->moved), ties->at_the_cut,
        ties->without_partner);
  }
  if (const auto& rounded = verification.rounded_rows) {
    text += fmt::format(
        "the original amplifies rounding: PyTorch's own results with products of floats leave {} of {} without a "
        "partner elsewhere\n",
        rounded->without_partner, counted(rounded->rows, "row"));
  }
  const auto& rounding = verification.rounding;
  if (rounding && rounding->original >= verification.tolerance / 10) {
    text += fmt::format(
        "the original amplifies rounding: its own results in float32 are {:.3g} of the range from those in float64, "
        "the "
        "converted model's {:.3g}\n",
        rounding->original, rounding->converted);
  }
  return text;
}

// Returns lines on what a quantised model had to be compared with; often empty.
std::string quantised_notes(const Verification& verification) {
  std::string text;
  if (verification.rounds_twice) {
    text += "NNAPI rounded products twice, as Android's own CPU does; rounded once they are farther off\n";
  }
  if (verification.is_as_defined && verification.original) {
    const OriginalDistance& own = *verification.original;
    const std::string difference = own.has_other_sizes ? "have other sizes than"
                                                       : fmt::format("are {:.3g} of the range (SNR {:.1f} dB) from",
                                                                     own.relative_error, own.snr_db);
    text += fmt::format(
        "PyTorch's own kernels are wrong here: its results {} those of the quantised layers as they are defined, which "
        "the converted model was compared with\n",
        difference);
  }
  return text;
}

std::string verdict(const Verification& verification) {
  if (!verification.passed) return "FAILED";
  return verification.borders.empty() ? "passed" : "passed but for the border values above";
}

void judge_values(Verification& result, const VerifyRequest& request) {
  using Defaults = VerifyDefaults;
  if (result.calibrated_snr && !request.tolerance) return judge_calibrated(result, request);
  if (result.reference) {
    const double ratio = result.is_per_channel ? Defaults::kMaxPerChannelRatio : Defaults::kMaxDistanceRatio;
    result.criterion = fmt::format("NNAPI at most {} times as far from the float model as TorchScript{}", ratio,
                                   result.is_per_channel ? ", whose weights are per channel" : "");
    result.passed = result.reference->converted <= ratio * result.reference->original;
    return;
  }
  const bool by_snr = result.is_quantized && !request.tolerance;
  const double tolerance = result.tolerance;
  result.criterion = by_snr ? nearness(result, fmt::format("{}", Defaults::kQuantizedSnr))
                            : fmt::format("max error at most {:g} of the output's range", tolerance);
  const bool is_rounded = std::any_of(result.outputs.begin(), result.outputs.end(),
                                      [](const OutputComparison& output) { return output.rounding > 0; });
  if (is_rounded && !by_snr) result.criterion += " and a step of the output's dtype";
  const bool may_choose_others = result.is_approximate && !by_snr && !request.tolerance;
  if (may_choose_others) result.criterion += or_mostly_same(result);
  const auto is_exact = [&](const OutputComparison& output) {
    return output.relative_error <= tolerance + output.rounding || (may_choose_others && are_mostly_same(output));
  };
  result.passed = by_snr ? are_near(result, Defaults::kQuantizedSnr)
                         : std::all_of(result.outputs.begin(), result.outputs.end(), is_exact);
}

}  // namespace

void judge(Verification& result, const VerifyRequest& request) {
  judge_values(result, request);
  if (!result.passed && result.is_per_channel) {
    result.criterion +=
        "; the original's weights have a scale for each channel, which PyTorch's own loader can't express: "
        "--runtime shim keeps their scales";
  }
  if (!result.ties) return;
  result.criterion += "; a partner for nearly all rows";
  result.passed = result.passed && result.ties->are_matched();
}

std::string inputs_option(const VerifyRequest& request) {
  return request.is_of_conversion ? "--verify-inputs FILE" : "`nnapi-convert verify --inputs FILE`";
}

std::string to_text(const Verification& verification) {
  if (!verification.variants.empty()) {
    std::string all;
    for (size_t i = 0; i < verification.variants.size(); ++i) {
      const VariantVerification& variant = verification.variants[i];
      all += fmt::format("model {} ({})\n{}", i + 1, variant.name, to_text(variant.result));
    }
    return all;
  }
  std::string text = fmt::format("{:<8} {:<18} {:<8} {:>11} {:>11} {:>9} {:>7} {:>7}\n", "output", "shape", "dtype",
                                 "max error", "of range", "SNR dB", "top-1", "quanta");
  for (size_t i = 0; i < verification.outputs.size(); ++i) {
    const OutputComparison& output = verification.outputs[i];
    text += fmt::format("{:<8} {:<18} {:<8} {:>11.3g} {:>11.3g} {:>9.1f} {:>6.1f}% {:>7}\n", i, output.shape,
                        output.dtype, output.max_error, output.relative_error, output.snr_db, 100 * output.top1,
                        output.quanta ? fmt::format("{:.1f}", *output.quanta) : "-");
  }
  for (size_t i = 0; i < verification.outputs.size(); ++i) {
    if (!std::isfinite(verification.outputs[i].max_error)) {
      text += fmt::format(
          "output {} has infinite numbers or NaN in one of both, which can't be compared; made-up inputs may lie "
          "beyond what the model gets: give its own with {}\n",
          i, verification.inputs_option);
    }
    if (verification.outputs[i].is_constant) {
      text += fmt::format("warning: output {} is the same everywhere: this compares nothing\n", i);
    } else if (verification.outputs[i].ignores_input) {
      text += fmt::format(
          "warning: output {} hardly depends on the input: this compares little; are the weights trained?\n", i);
    }
  }
  if (verification.reference) {
    text += fmt::format("distance from the float model (RMS): TorchScript {:.4g}, NNAPI {:.4g}, ratio {:.3f}\n",
                        verification.reference->original, verification.reference->converted,
                        verification.reference->ratio());
  }
  if (verification.is_of_meaning) {
    text += fmt::format("compared with the float model that the original stands for; the original itself {}\n",
                        !verification.original ? "can't run here"
                        : verification.original->has_other_sizes
                            ? "gives results of other sizes"
                            : fmt::format("is {:.3g} of the range from it (SNR {:.1f} dB)",
                                          verification.original->relative_error, verification.original->snr_db));
  }
  text += notes_text(verification) + quantised_notes(verification);
  for (const FedRange& input : verification.fed) text += to_text(input);
  for (const BorderFinding& finding : verification.borders) {
    text += fmt::format("{}{}: {}\n", finding.is_fault ? "" : "warning: ", finding.sample, finding.problem);
  }
  return text + fmt::format("{} ({}{}; needed: {})\n", verdict(verification), counted(verification.samples, "sample"),
                            verification.is_without_torch ? ", run without PyTorch" : "", verification.criterion);
}

}  // namespace nnapi_convert
