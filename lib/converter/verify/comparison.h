// SPDX-License-Identifier: BSD-3-Clause
// Runs the original and the converted model on samples, and sums up how far their results are apart.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lib/converter/load/converted_file.h"
#include "lib/converter/verify/accumulator.h"
#include "lib/converter/verify/own_rounding.h"
#include "lib/converter/verify/tied_rows.h"
#include "lib/converter/verify/verification.h"
#include "lib/converter/verify/verify_inputs.h"
#include "lib/converter/verify/verify_request.h"

namespace nnapi_convert {

// Runs the converted model on the leaves of forward's arguments.
using RunConverted = std::function<Tensors(const Values&)>;

struct ComparedModels {
  const VerifyRequest& request;
  const ConvertedFile& converted;
  const ForwardArguments& arguments;
  torch::jit::Module& original;
  torch::jit::Module* meaning = nullptr;    // float_meaning() of the original: the results are compared with its
  torch::jit::Module* reference = nullptr;  // the float twin of a quantised model
  RunConverted run_converted;
  std::optional<TieRule> ties = {};  // given for a model that puts numbers in order
};

struct Comparison {
  std::vector<Accumulator> outputs;
  std::optional<OriginalDistance> original;    // set if there is a meaning
  std::optional<ReferenceDistance> reference;  // set if there is a reference
  std::optional<TiedRows> ties;                // for samples whose rows had to be matched
  bool is_finite = true;                       // all of the original's results are finite
  KeptResults kept;                            // empty where they take much memory, or rows were matched
};

// Compares the models' results on the samples. Throws ConvertError (kVerificationFailed) where a model fails, or
// results are of other forms.
Comparison compare_models(const ComparedModels& models, const std::vector<Values>& samples);

}  // namespace nnapi_convert
