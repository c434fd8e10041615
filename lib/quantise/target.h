// What --max-drop and --min-snr ask of the results on the samples held back.
#pragma once

#include <optional>

#include "lib/quantise/distance.h"

namespace nnapi_convert::quantise {

struct Target {
  std::optional<double> max_drop = {};  // of top-1 agreement, as a share
  std::optional<double> min_snr = {};   // dB
  // The results are those of the model's forward. Else, of a segment, max_drop is an aim for single samples, and the
  // whole model has to prove it.
  bool is_of_whole = true;

  bool is_given() const { return max_drop || min_snr; }
};

// A drop holds where the rows prove it: the lower bound of the top-1 agreement is high enough.
bool holds(const Target& target, const Distance& distance);

// How many rows prove a drop if none of them differs; `max_drop` is above 0.
double rows_needed(double max_drop);

// Throws ConvertError (kNotConvertible) where so many samples held back can't prove the drop even if no row differs.
// `same` is the distance of their results from themselves.
void check_provable(const Target& target, const Distance& same, size_t held_back);

}  // namespace nnapi_convert::quantise
