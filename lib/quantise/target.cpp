// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/counted.h"
#include "lib/base/error.h"

namespace nnapi_convert::quantise {
namespace {

constexpr double kSlack = 1e-9;

[[noreturn]] void refuse(double max_drop, const std::string& problem) {
  throw ConvertError(ExitCode::kNotConvertible, fmt::format("--max-drop {:g}%: {}", 100 * max_drop, problem));
}

double drop_of(const Target& target, const Judgement& judgement) {
  if (judgement.score) {
    const Score& score = *judgement.score;
    const double lost = score.of_float - score.of_integers;
    if (score.is_share || lost <= 0) return lost;
    return score.of_float == 0 ? HUGE_VAL : lost / std::abs(score.of_float);
  }
  if (judgement.accuracy) return loss_interval(*judgement.accuracy).highest;
  return 1 - (target.is_of_whole ? judgement.distance.proven_top1 : judgement.distance.top1);
}

std::string found_text(const Judgement& judgement) {
  if (judgement.score) return to_text(*judgement.score);
  if (judgement.accuracy) return "the accuracy is " + to_text(*judgement.accuracy);
  const Distance& distance = judgement.distance;
  const std::string proven =
      distance.rows > 0 ? fmt::format(", of which {:.1f}% are proven", 100 * distance.proven_top1) : "";
  if (distance.is_of_integers) {
    return fmt::format("{:.1f}% of the elements are the same{}", 100 * distance.top1, proven);
  }
  return fmt::format("the SNR is {:.1f} dB and the top-1 agreement {:.1f}%{}", distance.snr_db, 100 * distance.top1,
                     proven);
}

}  // namespace

bool holds(const Target& target, const Judgement& judgement) {
  const Distance& distance = judgement.distance;
  return (!target.max_drop || drop_of(target, judgement) <= *target.max_drop + kSlack) &&
         (!target.min_snr || distance.snr_db >= *target.min_snr);
}

double rows_needed(double max_drop) {
  Distance distance;
  distance.top1 = 1;
  distance.rows = 1;
  // If all of n rows are equal, the lower bound is n / (n + z).
  const double z = 1 / top1_interval(distance).lowest - 1;
  return std::ceil(z * (1 - max_drop) / max_drop - kSlack);
}

void check_provable(const Target& target, const Distance& same, size_t held_back) {
  if (!target.max_drop || !target.is_of_whole || *target.max_drop >= 1) return;
  const double drop = *target.max_drop, rows = same.fewest_rows;
  if (drop <= 0)
    refuse(drop, "no number of samples proves that none differs: ask for a share above 0, or for --min-snr");
  if (rows == 0) {
    refuse(drop, "the results have no rows of several numbers, so that none of them has a largest one: use --min-snr");
  }
  const double needed = rows_needed(drop);
  if (rows >= needed) return;
  const double of_sample = rows / static_cast<double>(held_back);
  refuse(drop, fmt::format("{} result{} on {} sample{} held back can't prove it: even if all had the float model's "
                           "top-1, up to {:.1f}% of others might differ; {} results are needed: give {} samples or "
                           "more, of which a half is held back, ask for less, or use --min-snr",
                           static_cast<size_t>(rows), rows == 1 ? "" : "s", held_back, held_back == 1 ? "" : "s",
                           100 * (1 - same.proven_top1), static_cast<size_t>(needed),
                           static_cast<size_t>(2 * std::ceil(needed / of_sample))));
}

void check_loss_provable(const Target& target, size_t samples, size_t held_back) {
  if (!target.max_drop || *target.max_drop >= 1) return;
  const double drop = *target.max_drop;
  if (drop <= 0)
    refuse(drop, "no number of samples proves that no accuracy is lost: ask for a share above 0, or for --min-snr");
  Accuracy same;
  same.samples = samples;
  const double needed = rows_needed(drop);
  if (static_cast<double>(samples) >= needed) return;
  const double labelled = static_cast<double>(std::max<size_t>(samples, 1)) / static_cast<double>(held_back);
  refuse(drop,
         fmt::format("{} held back can't prove it: even if each were classified as float does, up to {:.1f}% of "
                     "the accuracy might be lost; {} are needed: give {} samples or more, of which a half is held "
                     "back, ask for less, or use --min-snr",
                     counted(samples, "sample"), 100 * loss_interval(same).highest, static_cast<size_t>(needed),
                     static_cast<size_t>(2 * std::ceil(needed / labelled))));
}

void refuse_target(const Judgement& judgement) {
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("--max-drop or --min-snr can't be held with any operation in integers: with all of "
                                 "them {}; ask for less, or give more samples",
                                 found_text(judgement)));
}

size_t fewest_float(size_t count, const std::function<bool(size_t)>& is_met) {
  size_t low = 0, high = 1;
  while (high < count && !is_met(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, count);
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (is_met(middle) ? high : low) = middle;
  }
  return high;
}

std::string to_text(const Accuracy& accuracy) {
  if (accuracy.is_of_few()) {
    return fmt::format("{} of {} right in float, {} in integers, both alike on {}; {} or more tell what is lost",
                       accuracy.right_float, accuracy.samples, accuracy.right_integers, accuracy.agreed(),
                       Accuracy::kFewSamples);
  }
  const Interval loss = loss_interval(accuracy);
  const double lost = accuracy.of_float() - accuracy.of_integers();
  return fmt::format("{:.2f}% in float, {:.2f}% in integers, {:.2f} points lost ({:.2f} to {:.2f})",
                     100 * accuracy.of_float(), 100 * accuracy.of_integers(), 100 * lost, 100 * loss.lowest,
                     100 * loss.highest);
}

std::string to_text(const Score& score) {
  return fmt::format("{} {:.4g} in float, {:.4g} in integers", score.name, score.of_float, score.of_integers);
}

}  // namespace nnapi_convert::quantise
