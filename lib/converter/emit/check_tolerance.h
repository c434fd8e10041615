// SPDX-License-Identifier: BSD-3-Clause
// Says how far a device's outputs may be from TorchScript's before the shim takes the device for faulty.
#pragma once

#include "lib/converter/plan/nnapi_part.h"

namespace nnapi_convert {

// Differences in the unit of the elements: of one element, and the root mean square of all.
struct CheckTolerance {
  double most = 0, root_mean_square = 0;
};

// Returns how many operations of the model make quantised tensors.
size_t quantised_operations(const nnapi::Model& model);

// True if output `number` holds floats that are computed of others, and not those that quantised numbers stand for.
bool is_computed_of_floats(const NnapiPart& part, size_t number);

// True if output `number` is made of the places that TOPK_V2, ARGMAX or ARGMIN give: it jumps where two candidates are
// near each other.
bool is_chosen(const nnapi::Model& model, size_t number);

// Says whether the candidates of an output that is_chosen() are near each other in a sample.
enum class Candidates {
  kNone,   // the output isn't chosen
  kApart,  // none are known to be near each other
  kNear,   // another device may choose otherwise
};

// Returns the tolerance of output `number`. TorchScript's elements of this output lie between `lowest` and `highest`.
CheckTolerance check_tolerance(const NnapiPart& part, size_t number, bool relaxed, double lowest, double highest,
                               Candidates candidates);

}  // namespace nnapi_convert
