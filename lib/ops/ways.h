// SPDX-License-Identifier: BSD-3-Clause
// Answers how an operator is handled. In this folder an operator's name stands in the tables of its ways, and nowhere
// else.
#pragma once

#include <string>
#include <vector>

namespace nnapi_convert {

// The ways of an operator, in the order in which they are tried. A way that doesn't take the node's arguments leaves
// the node to the next one; a row that doesn't take them refuses the node. Operators that ATen makes of others itself
// need no way: what ATen calls is traced, and takes the operator's place.
enum class Way {
  kScript,         // TorchScript in its place, as the file is loaded: script_forms.h
  kNewerRefusal,   // PyTorch got it after 1.13.1, and nothing takes its place: newer_refusals.cpp
  kPattern,        // the last operator of a composition that another operator replaces: patterns.h
  kDecomposition,  // other operators in its place, where some arguments are constants: decompositions.h
  kFormula,        // ATen's functions in its place: formulas.h
  kRow,            // NNAPI's operations: op_rule.h
  kRefusal,        // none, and a reason for it: known_refusals.h
};

struct OperatorWay {
  std::string name;  // of the operator, with its overload if the way is of one overload
  Way way;
  std::string text;  // for people: the feature level and limits of a row, the reason of a refusal
};

// Returns the ways of an operator: "aten::var" has those of all its overloads, "aten::var.dim" its own. An
// empty name has those of all operators. Sorted by name, and in their order.
std::vector<OperatorWay> ways_of(const std::string& name);

}  // namespace nnapi_convert
