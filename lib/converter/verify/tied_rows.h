// SPDX-License-Identifier: BSD-3-Clause
// Compares rows that a model puts in order by a score, such as a detector's boxes: equal scores have no order, and of
// scores that differ by less than the tolerance two right models may sort either first. Rows are therefore matched by
// score and values before they are compared.
#pragma once

#include <optional>

#include "lib/converter/verify/verification.h"
#include "lib/converter/verify/verify_inputs.h"

namespace nnapi_convert {

struct TieRule {
  double scores = 0;     // tied scores differ by at most this share of their range; with by_size, of their size
  bool by_size = false;  // for a quantised model
  double values = 0;     // partners differ by at most so much of the range of each output of floats
  bool may_count_otherwise = false;  // values decide how many rows there are
};

// Finds scores among the results: floats whose last axis is in descending order, and results of as many rows. Brings
// `found` into the order of `expected`; a row without a partner becomes the expected one, and counts. Returns nothing,
// and changes nothing, where there are no such results.
std::optional<TiedRows> match_rows(const Tensors& expected, Tensors& found, const TieRule& rule);

}  // namespace nnapi_convert
