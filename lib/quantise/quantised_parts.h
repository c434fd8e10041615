// SPDX-License-Identifier: BSD-3-Clause
// The outcome of quantising the models of a plan: one model, or one for each segment between steps of the CPU.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/fed_range.h"
#include "lib/base/held_back.h"
#include "lib/quantise/quantise.h"

namespace nnapi_convert::quantise {

// One segment's model. Without a report it stayed float, for the reason in `left_float`.
struct QuantisedPart {
  std::optional<Report> report = {};
  std::string left_float = {};
};

struct QuantisedParts {
  std::vector<QuantisedPart> parts;  // by segment
  bool is_whole = true;              // the one part is all of forward
  bool is_by_table = false;          // scales and distances are those that a calibration table holds
  size_t calibration_samples = 0, held_back_samples = 0;
  std::string few_samples = {};    // a warning about too few samples; empty for enough
  HoldBack hold_back = {};         // the rule by which samples were held back
  std::vector<FedRange> fed = {};  // the ranges that float inputs were fed
  // The distance of forward's results on the samples held back. Nothing if they can't be compared: for a partitioned
  // model whose results have other sizes than the float model's.
  std::optional<Distance> distance = {};
  std::optional<Accuracy> accuracy = {};  // on the same samples, where their classes are known
  std::optional<Score> score = {};        // on the same samples, if something scores results
  std::string class_source = {};          // the source of the classes, or why they are not known
};

}  // namespace nnapi_convert::quantise
