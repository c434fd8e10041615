// SPDX-License-Identifier: BSD-3-Clause
// Finds the structure of forward's arguments that are no tensors, from --input NAME[INDEX]=... or bundled inputs.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/serialize/argument_tree.h"

namespace nnapi_convert {

// Returns the structure. `names` are the leaves that the user named: "images[0]", "state[mask]". A list or dict has the
// named elements, or those of `sample`; without either it is one leaf. An unnamed optional argument is None if None is
// its default. An argument in `bound`, or a part of one, has its value there. Throws ConvertError (kUsage) for names
// that leave out elements.
ForwardArguments read_arguments(const c10::FunctionSchema& forward, const std::vector<std::string>& names,
                                const InputTuple* sample, const BoundValues& bound = {});

struct NamedValue {
  std::string name;  // the one among those that --input may give it: x.img, not x[0] or x[img]; f[a], not f["a"]
  c10::TypePtr type;
};

// Returns the argument of forward, or the part of one, that --input names; nothing if forward has no such value.
std::optional<NamedValue> value_named(const c10::FunctionSchema& forward, const std::string& name);
// Returns the one name of that value; the name as it is if forward has no such value.
std::string name_of_value(const c10::FunctionSchema& forward, const std::string& name);

// Returns the name of a tensor in the value of this name, as an example in a message; `name` itself for other types.
std::string example_name(const std::string& name, const c10::TypePtr& type);

// Replaces the graph's inputs for the arguments by one input for each leaf, in order; input 0 is self.
void flatten_arguments(torch::jit::Graph& graph, ForwardArguments& arguments);

// True if each argument is a tensor, not optional and not in a container.
bool takes_tensors_only(const ForwardArguments& arguments);

// Returns forward's arguments, built from their leaves; throws std::out_of_range if there are too few leaves.
InputTuple assemble(const ForwardArguments& arguments, const std::vector<c10::IValue>& leaves);
// Returns forward's arguments: the leaves themselves where forward takes these alone, and `arguments` is empty.
InputTuple call_of(const ForwardArguments& arguments, const std::vector<at::Tensor>& leaves);
// Returns the leaves of `values`; nothing if the values have another structure.
std::optional<std::vector<c10::IValue>> take_apart(const ForwardArguments& arguments, const InputTuple& values);

}  // namespace nnapi_convert
