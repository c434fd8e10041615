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
  std::size_t index = 0;  // in the order of addition
  std::vector<uint32_t> inputs, outputs;
  const SignatureInfo* signature = nullptr;
  int feature_level = 0;  // that its model may use
};

// "operation 3 (CONV_2D)"
std::string subject_of(const Operation& operation);

// What is wrong with a tensor's rank, or nothing.
std::string rank_complaint(const ArgumentInfo& argument, const Shape& shape);

// The signature that fits types, ranks and number of the operands at the feature level; fails with bad data where none
// does. Operand indices have been checked. Omitted operands are known only when the model is complete, so that ranks of
// arguments that may be omitted are not checked.
const SignatureInfo* match_signature(const Operation& operation, const std::vector<Operand>& operands);

// The description of the operation's n-th input; an argument that stands for several operands repeats.
std::size_t argument_index(const TableView<ArgumentInfo>& arguments, std::size_t position, std::size_t count);

}  // namespace nnapi_convert::host
