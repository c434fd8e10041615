// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/engine/conversion_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <set>

#include "lib/converter/report/report.h"
#include "lib/converter/verify/verdict.h"
#include "lib/quantise/quantise_plan.h"
#include "tools/nnapi-convert/engine/progress.h"

namespace nnapi_convert {

void log_warnings(const Diagnostics& diagnostics) {
  for (const std::string& line : summary_of(diagnostics.warnings)) spdlog::warn("{}", line);
}

void log_few_samples(const Conversion& conversion) {
  if (!is_quiet()) return;  // otherwise it is among the warnings
  std::set<std::string> lines;
  if (conversion.quantised) lines.insert(conversion.quantised->few_samples);
  for (const VariantSummary& variant : conversion.variants) {
    if (variant.quantised) lines.insert(variant.quantised->few_samples);
  }
  lines.erase("");
  const auto level = spdlog::get_level();
  spdlog::set_level(spdlog::level::warn);
  for (const std::string& line : lines) spdlog::warn("{}", line);
  spdlog::set_level(level);
}

void log_loss(const std::optional<TargetLoss>& loss) {
  if (loss) spdlog::log(loss->costs_parts() ? spdlog::level::warn : spdlog::level::info, "{}", to_text(*loss));
}

void log_parts(const Conversion& conversion, const std::string& before) {
  if (conversion.is_whole) return;
  const bool is_one = conversion.segments.size() == 1 && conversion.cpu_nodes.empty();
  spdlog::log(is_one ? spdlog::level::info : spdlog::level::warn, "{}{}", before, partition_text(conversion));
}

void log_calibration(const Conversion& conversion, bool is_stdout_taken) {
  if (is_quiet()) return;
  std::ostream& out = is_stdout_taken ? std::cerr : std::cout;
  if (conversion.quantised && conversion.variants.empty()) out << to_text(*conversion.quantised);
  for (size_t i = 0; i < conversion.variants.size(); ++i) {
    const VariantSummary& variant = conversion.variants[i];
    if (variant.quantised) out << fmt::format("model {} ({}): ", i + 1, variant.name) << to_text(*variant.quantised);
  }
}

void log_splits(const Conversion& conversion, bool is_stdout_taken) {
  if (is_quiet()) return;
  for (const ResultSplit& split : conversion.splits) {
    (is_stdout_taken ? std::cerr : std::cout) << fmt::format(
        "--split-output: result {} of the original is {} results of the file, its parts of sizes {} along "
        "axis {}: forward returns a tuple\n",
        split.result, split.sizes.size(), fmt::join(split.sizes, ", "), split.axis);
  }
}

void log_weights(const Conversion& conversion, bool is_stdout_taken, const std::string& before) {
  if (is_quiet()) return;
  std::ostream& out = is_stdout_taken ? std::cerr : std::cout;
  if (conversion.stored_weights && conversion.variants.empty()) out << before << to_text(*conversion.stored_weights);
  for (size_t i = 0; i < conversion.variants.size(); ++i) {
    const VariantSummary& variant = conversion.variants[i];
    if (!variant.stored_weights) continue;
    out << fmt::format("model {} ({}): ", i + 1, variant.name) << to_text(*variant.stored_weights);
  }
}

void log_verification(const Verification& verification, bool is_stdout_taken, const std::string& before) {
  if (is_quiet() && verification.passed) return;
  (is_stdout_taken ? std::cerr : std::cout) << before << to_text(verification);
}

}  // namespace nnapi_convert
