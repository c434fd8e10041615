// SPDX-License-Identifier: BSD-3-Clause
// The demands of --max-drop and --min-snr on the results on the samples held back.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "lib/quantise/accuracy.h"
#include "lib/quantise/distance.h"

namespace nnapi_convert::quantise {

struct Target {
  std::optional<double> max_drop = {};  // as a share of the measure that holds() tells
  std::optional<double> min_snr = {};   // dB
  // True: the results are those of the model's forward. False: they are a segment's; max_drop is then an aim for single
  // samples, and the whole model has to prove it.
  bool is_of_whole = true;

  bool is_given() const { return max_drop || min_snr; }
};

// A score of results by another measure than classes; larger is better.
struct Score {
  std::string name;
  double of_float = 0, of_integers = 0;
  bool is_share = true;  // from 0 to 1, so that a drop is a difference; otherwise a drop is a share of float's score
};

// The judgement of results on the samples held back.
struct Judgement {
  Distance distance = {};
  std::optional<Accuracy> accuracy = {};  // if the samples' classes are known
  std::optional<Score> score = {};
};

// Returns whether the judgement meets the target. max_drop limits the score's drop, if there is one. Otherwise it
// limits that of the accuracy, or, if classes aren't known, of the top-1 agreement with float, and the samples have to
// prove it: the bound of the interval counts.
bool holds(const Target& target, const Judgement& judgement);

// Returns how many rows prove a drop if none of them differs; `max_drop` is above 0.
double rows_needed(double max_drop);

// Throws ConvertError (kNotConvertible) if so many samples held back can't prove the drop even if no row differs.
// `same` is the distance of their results from themselves.
void check_provable(const Target& target, const Distance& same, size_t held_back);

// Throws as check_provable() does, for a drop of the accuracy; `samples` of those held back have a class.
void check_loss_provable(const Target& target, size_t samples, size_t held_back);

// Throws ConvertError (kNotConvertible): with all operations in integers the results are those of `judgement`.
[[noreturn]] void refuse_target(const Judgement& judgement);

// Returns the fewest of `count` operations, the first ones, that have to stay float for the target; `count` if no
// number is enough. `is_met` tells whether a number is. Doubles the number until it holds, then halves the step back.
size_t fewest_float(size_t count, const std::function<bool(size_t)>& is_met);

// Returns "85.0% in float, 84.0% in integers, 1.0 points lost (-1.2 to 4.3)"; for few samples only counts: "9 of 10
// right in float, 7 in integers, both alike on 8; 30 or more tell what is lost".
std::string to_text(const Accuracy& accuracy);
std::string to_text(const Score& score);

}  // namespace nnapi_convert::quantise
