// SPDX-License-Identifier: BSD-3-Clause
// Finds the signature of the operations table that an operation of a Model fits.
#pragma once

#include <string>

#include "lib/format/operation_table.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

struct SignatureMatch {
  const SignatureInfo* signature = nullptr;  // null: no signature takes these operands
  const TypeCombination* combination = nullptr;
  int32_t feature_level = 0;  // the lowest level that allows the signature, the types and the arguments used
  std::string problem;        // why no signature takes the operands; empty if one does
};

SignatureMatch match_signature(const Model& model, const Operation& operation);

// Returns the argument for input number `index`; a variadic argument takes all inputs that the other arguments leave.
const ArgumentInfo& argument_of_input(const SignatureInfo& signature, size_t index, size_t input_count);

}  // namespace nnapi_convert::nnapi
