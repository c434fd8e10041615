#include "lib/quantise/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"

namespace nnapi_convert::quantise {
namespace {

constexpr double kSlack = 1e-9;

[[noreturn]] void refuse(double max_drop, const std::string& problem) {
  throw ConvertError(ExitCode::kNotConvertible, fmt::format("--max-drop {:g}%: {}", 100 * max_drop, problem));
}

}  // namespace

bool holds(const Target& target, const Distance& distance) {
  const double agreed = target.is_of_whole ? distance.proven_top1 : distance.top1;
  return (!target.max_drop || 1 - agreed <= *target.max_drop + kSlack) &&
         (!target.min_snr || distance.snr_db >= *target.min_snr);
}

double rows_needed(double max_drop) {
  Distance distance;
  distance.top1 = 1;
  distance.rows = 1;
  // Of n rows that are all the same, the lower bound is n / (n + z).
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

}  // namespace nnapi_convert::quantise
