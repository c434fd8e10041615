// SPDX-License-Identifier: BSD-3-Clause
// Which operations are worth computing with integers, where others of the model stay float.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

// Clears is_integer, by operation, where floats cost less or are as cheap and more exact. An operation with weights
// gains its multiply-adds by integers, one that only moves values the bytes that it saves, and others nothing. Each
// tensor between an integer operation and a float one costs its elements, for QUANTIZE or DEQUANTIZE, and so does an
// output that the model's caller gets in the other form: in integers with `integer_outputs`, else in floats. The choice
// is the best of all: a minimum cut. A part of the model without any float operation stays. A formula with one float
// operation is float as a whole: its steps, such as squares in a layer norm, lose most in 8 bits.
void choose_integer_part(const nnapi::Model& model, bool integer_outputs, std::vector<bool>& is_integer);

// Operations, by number, that compute one operator of PyTorch together, as layer norm and GELU need several of NNAPI's:
// they come from one source line, and tensors join them. Those with weights and those that only move values are of
// none.
std::vector<std::vector<size_t>> formulas_of(const nnapi::Model& model);

}  // namespace nnapi_convert::quantise
