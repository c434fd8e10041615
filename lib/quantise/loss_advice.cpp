// SPDX-License-Identifier: BSD-3-Clause
// Finds which operations lose most, and gives advice about them.
#include <fmt/format.h>

#include <algorithm>

#include "lib/format/operation_table.h"
#include "lib/quantise/diagnose.h"

namespace nnapi_convert::quantise {
namespace {

// Returns the name by which --keep-float finds the operation.
const std::string& name_of(const OperationLoss& loss) {
  if (!loss.result.empty()) return loss.result;
  return loss.source.empty() ? loss.code : loss.source;
}

}  // namespace

std::vector<const OperationLoss*> worst_of(const std::vector<OperationLoss>& losses, size_t most) {
  std::vector<const OperationLoss*> worst;
  for (const OperationLoss& loss : losses) {
    if (loss.alone) worst.push_back(&loss);
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [](const OperationLoss* a, const OperationLoss* b) { return *a->alone < *b->alone; });
  if (worst.size() > most) worst.resize(most);
  return worst;
}

std::vector<std::string> advice_on(const std::vector<OperationLoss>& losses) {
  constexpr double kLow = 30;     // dB of one operation alone: most operations lose far less
  constexpr double kMuch = 0.01;  // as a share of the results: those that the scale can't hold
  constexpr size_t kMost = 3;
  std::vector<std::string> advice;
  for (const OperationLoss* loss : worst_of(losses, kMost)) {
    if (*loss->alone >= kLow) continue;
    if (loss->code == nnapi_convert::name_of(OperationCode::CONCATENATION)) {
      advice.push_back(fmt::format(
          "{} that gives {} joins parts of unlike ranges, and one scale leaves one of them {:.1f} dB: --split-output "
          "makes a result of each where it is a result, --keep-float {} keeps it float",
          loss->code, name_of(*loss), *loss->alone, name_of(*loss)));
      continue;
    }
    const bool is_of_weights = loss->weights && (!loss->activations || *loss->weights < *loss->activations);
    const bool is_convolution = loss->code.find("CONV") != std::string::npos;
    advice.push_back(fmt::format(
        "{} that gives {} loses most by its {} ({:.1f} dB alone): {}keep it float with --keep-float {}", loss->code,
        name_of(*loss), is_of_weights ? "weights" : "activations", *loss->alone,
        is_of_weights && is_convolution ? "--runtime shim keeps a scale for each channel, or " : "", name_of(*loss)));
  }
  for (const OperationLoss* loss : worst_of(losses, losses.size())) {
    if (loss->saturated < kMuch) continue;
    advice.push_back(
        fmt::format("{:.1f}% of what {} gives is larger than its scale holds ({}): its range was cut, or measured on "
                    "samples unlike these; give more samples",
                    100 * loss->saturated, loss->code, name_of(*loss)));
    break;
  }
  return advice;
}

}  // namespace nnapi_convert::quantise
