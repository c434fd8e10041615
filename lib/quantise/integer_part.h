// SPDX-License-Identifier: BSD-3-Clause
// Which operations are worth computing with integers, where others of the model stay float.
#pragma once

#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::quantise {

// Clears is_integer, which is by operation, where floats cost less, or cost the same and are more exact. An operation
// with weights gains its multiply-adds by integers, one that only moves values the bytes that it saves, and others
// nothing. Each tensor between an integer operation and a float one costs its elements, for QUANTIZE or DEQUANTIZE, and
// so does an output that the model's caller gets in the other form: in integers with `integer_outputs`, otherwise in
// floats. The choice is the best possible: a minimum cut. A part of the model without any float operation stays as it
// is. A formula with one float operation is float as a whole: its steps, such as squares in a layer norm, lose most in
// 8 bits.
void choose_integer_part(const nnapi::Model& model, bool integer_outputs, std::vector<bool>& is_integer);

// Returns groups of operations, by number, that compute one operator of PyTorch together, as layer norm and GELU need
// several of NNAPI's: they come from one source line, and tensors join them. Operations with weights and those that
// only move values belong to none.
std::vector<std::vector<size_t>> formulas_of(const nnapi::Model& model);

}  // namespace nnapi_convert::quantise
