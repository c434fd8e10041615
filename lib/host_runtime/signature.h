// SPDX-License-Identifier: BSD-3-Clause
// Matches an operation's operands against the operations table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/operand.h"

namespace nnapi_convert::host {

struct Operation {
  OperationCode code = OperationCode::ADD;
  std::size_t index = 0;  // its number in the order of addition
  std::vector<uint32_t> inputs, outputs;
  const SignatureInfo* signature = nullptr;
  int feature_level = 0;  // the level that its model may use
};

// Returns a text such as "operation 3 (CONV_2D)".
std::string subject_of(const Operation& operation);

// Returns what is wrong with a tensor's rank, or an empty text.
std::string rank_complaint(const ArgumentInfo& argument, const Shape& shape);

// Returns the signature that fits the types, ranks and number of the operands at the feature level; fails with bad data
// if none fits. The operand indices have been checked. Does not check the ranks of arguments that may be omitted: only
// a complete model tells which operands are omitted.
const SignatureInfo* match_signature(const Operation& operation, const std::vector<Operand>& operands);

// Returns the index of the argument that describes operand number `position` of `count`; an argument that stands for
// several operands repeats.
std::size_t argument_index(const TableView<ArgumentInfo>& arguments, std::size_t position, std::size_t count);

}  // namespace nnapi_convert::host
