// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/right_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/verify/run_models.h"
#include "lib/converter/verify/verdict.h"

namespace nnapi_convert {
namespace {

class RightProducts {
 public:
  RightProducts(const Verification& failed, const ComparedModels& models, const std::vector<Values>& samples)
      : failed_(failed), models_(models), samples_(samples), silent_(models.request) {
    silent_.on_progress = nullptr;
    silent_.on_sample = nullptr;
  }

  // Compares with `defined`, or with the original where it is null. Returns nothing where the results are of other
  // forms.
  std::optional<Verification> compared(torch::jit::Module* defined, const RunConverted& run) const {
    const ComparedModels others{silent_,
                                models_.converted,
                                models_.arguments,
                                models_.original,
                                defined != nullptr ? defined : models_.meaning,
                                models_.reference,
                                run,
                                models_.ties};
    Verification other = failed_;
    try {
      take(other, compare_models(others, samples_), models_.converted.metadata);
    } catch (const ConvertError&) {
      return std::nullopt;
    }
    judge(other, models_.request);
    other.is_as_defined = defined != nullptr;
    return other;
  }

  std::optional<Verification> compared(torch::jit::Module* defined, bool rounds_twice) const {
    const std::optional<HostRoundsTwice> rounding = rounds_twice ? std::make_optional<HostRoundsTwice>() : std::nullopt;
    std::optional<Verification> other = compared(defined, models_.run_converted);
    if (other) other->rounds_twice = rounds_twice;
    return other;
  }

  // Returns a function that runs a model of PyTorch in place of the converted one.
  RunConverted runs_of(torch::jit::Module& module) const {
    return [&](const Values& sample) {
      const Values given = with_original_dtypes(sample, models_.converted.metadata);
      return run_unconverted(module, assemble(models_.arguments, given), "the original");
    };
  }

 private:
  const Verification& failed_;
  const ComparedModels& models_;
  const std::vector<Values>& samples_;
  VerifyRequest silent_;
};

// with_float_products(), and nothing for a model that can't be frozen.
std::optional<torch::jit::Module> if_frozen(const LoadedModel& original, Products which) {
  try {
    return with_float_products(original, which);
  } catch (const ConvertError&) {
    return std::nullopt;
  }
}

constexpr double kMostTimes = 2;     // that rounding alone explains differences
constexpr double kMostStrays = 0.5;  // of the rows: beyond that any boxes are as good

}  // namespace

bool is_explained_by_rounding(const Verification& converted, const Verification& rounded) {
  const TiedRows none, rows = converted.ties.value_or(none), others = rounded.ties.value_or(none);
  for (const TiedRows& each : {rows, others}) {
    if (static_cast<double>(each.without_partner) > kMostStrays * static_cast<double>(each.rows)) return false;
  }
  if (static_cast<double>(rows.without_partner) > kMostTimes * static_cast<double>(others.without_partner))
    return false;
  for (size_t i = 0; i < converted.outputs.size(); ++i) {
    if (converted.outputs[i].is_integral) continue;
    const double allowed = std::max(0.0, rounded.outputs.at(i).snr_db - 20 * std::log10(kMostTimes));
    if (converted.outputs[i].snr_db < std::min(allowed, VerifyDefaults::kQuantizedSnr)) return false;
  }
  return true;
}

void take(Verification& result, const Comparison& compared, const Metadata& metadata) {
  result.outputs.clear();
  for (size_t i = 0; i < compared.outputs.size(); ++i) {
    const auto& outputs = metadata.outputs;
    result.outputs.push_back(compared.outputs[i].result(i < outputs.size() ? outputs[i] : Quantization()));
  }
  result.reference = compared.reference;
  result.original = compared.original;
  result.ties = compared.ties;
}

void try_right_products(Verification& result, const LoadedModel& original, const ComparedModels& models,
                        const std::vector<Values>& samples) {
  const RightProducts right(result, models, samples);
  const auto passes = [&](torch::jit::Module* defined, bool rounds_twice) {
    std::optional<Verification> other = right.compared(defined, rounds_twice);
    if (!other || !other->passed) return false;
    result = *std::move(other);
    return true;
  };
  const auto passes_as = [&](std::optional<torch::jit::Module>& defined) {
    return defined && (passes(&*defined, false) || passes(&*defined, true));
  };
  if (passes(nullptr, true)) return;
  std::optional<torch::jit::Module> mended = if_frozen(original, Products::kBeyondInt32);
  if (passes_as(mended)) return;
  std::optional<torch::jit::Module> floats = if_frozen(original, Products::kAll);
  if (passes_as(floats) || !models.ties || !floats) return;
  torch::jit::Module* base = mended ? &*mended : nullptr;
  std::optional<Verification> converted = right.compared(base, false);
  const std::optional<Verification> rounded = right.compared(base, right.runs_of(*floats));
  if (!converted || !rounded) return;
  const bool is_explained = is_explained_by_rounding(*converted, *rounded);
  if (!is_explained && rounded->passed) return;
  converted->rounded_rows = rounded->ties.value_or(TiedRows());
  if (is_explained) {
    converted->passed = true;
    converted->criterion +=
        fmt::format(", or at most {:g} times the distance of PyTorch's own results by products of floats", kMostTimes);
  }
  result = *std::move(converted);
}

}  // namespace nnapi_convert
