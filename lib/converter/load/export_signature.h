// SPDX-License-Identifier: BSD-3-Clause
// Reads which inputs of an exported program's graph are weights and which are forward's arguments, and what it gives.
#pragma once

#include <ATen/core/ivalue.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/converter/load/value_tree.h"

namespace nnapi_convert {

struct ExportInput {
  enum class Kind { kWeight, kConstant, kUser, kFixed };
  Kind kind = Kind::kUser;
  std::string value;         // its name in the graph; for kFixed, its name in forward
  std::string kind_of_user;  // "as_tensor", "as_sym_int", ...
  std::string target;        // the weight's name
  bool is_parameter = false;
  c10::IValue fixed;
};

struct ExportOutput {
  enum class Kind { kUser, kBuffer, kInput };
  Kind kind = Kind::kUser;
  const nlohmann::json* argument = nullptr;
  std::string target;  // the buffer or the input that changes to it
};

struct ExportSignature {
  std::vector<ExportInput> inputs;
  std::vector<ExportOutput> outputs;
  ValueTree arguments;  // a tuple: those by position, a tuple, and those by keyword, a dict
  ValueTree results;
  std::vector<std::string> names;  // of the arguments, those by keyword last; may be empty
};

// Reads the signature. `graph_module` has to live longer than the result. Throws ConvertError.
ExportSignature read_signature(const nlohmann::json& graph_module);

}  // namespace nnapi_convert
