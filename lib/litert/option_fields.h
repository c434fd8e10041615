// SPDX-License-Identifier: BSD-3-Clause
// The fields of the tables in the union BuiltinOptions, for readers of files.
#pragma once

#include <string>
#include <vector>

#include "lib/litert/codes.h"

namespace nnapi_convert::litert {

enum class OptionKind { kInt, kInts, kFloat, kBool, kPadding, kActivation, kTensorType, kMode };

struct OptionField {
  Options table;
  int id;
  const char* name;
  OptionKind kind;
  int default_value = 0;  // the value of a field that a file leaves out
};

// Returns the fields of a table, in the order of their ids.
std::vector<OptionField> option_fields(Options table);

std::string padding_name(int padding);
std::string activation_name(int activation);

}  // namespace nnapi_convert::litert
