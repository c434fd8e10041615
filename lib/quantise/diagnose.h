// SPDX-License-Identifier: BSD-3-Clause
// Measures which operations of a quantised model lose most.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/quantise/choice.h"
#include "lib/quantise/kept_sample.h"

namespace nnapi_convert::quantise {

// The distribution of a tensor's values in the float model, and the range that its scale holds.
struct Spread {
  static constexpr size_t kBins = 40;
  float lowest = 0, highest = 0;
  std::vector<uint64_t> counts = {};  // by bin, from lowest to highest, of equal width; empty without finite values
  float scale_lowest = 0, scale_highest = 0;
};

// The losses of one operation with an integer form, as SNRs of its result in dB; nothing means that the result is exact
// or silent.
struct OperationLoss {
  std::string code, result, source;   // NNAPI's operation, the name of its result, the line of the model
  std::optional<double> alone;        // with the float model's values as inputs
  std::optional<double> cumulated;    // in the quantised model
  std::optional<double> weights;      // alone, with only its weights rounded; nothing, too, for one without weights
  std::optional<double> activations;  // alone, with only its inputs and results rounded
  double saturated = 0;               // share of the results that the scale can't hold
  Spread values = {};                 // the distribution of its results
};

struct DiagnoseRequest {
  const std::vector<Dims>& arguments;  // sizes of forward's tensors
  TakeRequest rules;
  std::function<void()> on_sample = {};  // called when a sample is done
};

// Returns the losses of the integer operations, in their order, on these samples. `base` is the float model to which
// the choice's scales belong (base_model()). Empty if tensors have flexible sizes.
std::vector<OperationLoss> diagnose(const nnapi::Model& base, const Choice& choice,
                                    const std::vector<KeptSample>& samples, const DiagnoseRequest& request);

// Returns the losses with the lowest SNR `alone`, the worst first.
std::vector<const OperationLoss*> worst_of(const std::vector<OperationLoss>& losses, size_t most);

// Returns advice about the largest losses, in words; empty if there is nothing to gain.
std::vector<std::string> advice_on(const std::vector<OperationLoss>& losses);

}  // namespace nnapi_convert::quantise
