// SPDX-License-Identifier: BSD-3-Clause
// Judges a quantised model's results where PyTorch's own are not the measure: its kernels are wrong where a bias
// overflows, drivers round products twice, and a detector amplifies the rounding of both.
#pragma once

#include <vector>

#include "lib/converter/load/load.h"
#include "lib/converter/verify/comparison.h"
#include "lib/converter/verify/verification.h"

namespace nnapi_convert {

// Writes how far two models' results differ into the result.
void take(Verification& result, const Comparison& compared, const Metadata& metadata);

// True if `converted`, the comparison of a converted model that puts numbers in order, differs at most twice as much as
// `rounded`, whose differences come from rounding alone, and most rows of both have a partner.
bool is_explained_by_rounding(const Verification& converted, const Verification& rounded);

// Compares a quantised model that failed with what is right as well, and takes the first comparison that passes:
//   with PyTorch's results where NNAPI rounds products twice;
//   with products as they are defined (float_products.h): first those alone that QNNPACK has wrong, as the others, of
//   floats, differ by rounding.
// A model that puts numbers in order (`models.ties`) also passes if PyTorch's own results with products of floats
// explain its differences (is_explained_by_rounding).
void try_right_products(Verification& result, const LoadedModel& original, const ComparedModels& models,
                        const std::vector<Values>& samples);

}  // namespace nnapi_convert
