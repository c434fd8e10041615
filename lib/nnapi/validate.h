// SPDX-License-Identifier: BSD-3-Clause
// Checks a model by NNAPI's own rules at one feature level, which it reads from the operations table.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// A rule that a model breaks.
struct Violation {
  std::string place;    // "operation 3 (RELU)", "subgraph 1: operation 0 (ADD)"; empty where `problem` has it
  std::string name;     // the operation's name; empty for an output
  std::string source;   // the model's source line; may be empty
  std::string problem;  // the argument, the value found and the value needed
};

// Returns the rules that the model breaks; none for a valid model.
std::vector<Violation> violations(const Model& model, int feature_level);
// Returns violations() with one sentence for each.
std::vector<std::string> validate(const Model& model, int feature_level);
// Returns sentences for people: operations that break a rule in the same way have one sentence, with the first of them
// and the number of the others.
std::vector<std::string> summary_of(const std::vector<Violation>& violations);

// Returns the lowest feature level that allows every operation of a valid model; at least 1.
int required_feature_level(const Model& model);

// Returns the bytes of an element of a tensor of this type.
int64_t element_size(OperandCode type);

}  // namespace nnapi_convert::nnapi
