// How forward's arguments are built where they are no tensors: known from --input NAME[INDEX]=..., or bundled inputs.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

#include "lib/converter/load/load.h"
#include "lib/serialize/argument_tree.h"

namespace nnapi_convert {

// `names` are those given of leaves: "images[0]", "state[mask]". A list or dict has the elements that are named, or
// those of `sample`; without either it is a leaf of its own type. An optional argument that nothing is said of is None
// where that is its default. An argument in `bound` has its value there. Throws ConvertError (kUsage) for names that
// leave out elements.
ForwardArguments read_arguments(const c10::FunctionSchema& forward, const std::vector<std::string>& names,
                                const InputTuple* sample, const BoundValues& bound = {});

// Gives the graph an input for each leaf, in their order, in place of those for the arguments; input 0 is self.
void flatten_arguments(torch::jit::Graph& graph, ForwardArguments& arguments);

// True where each argument is a tensor, none of them in a container or optional.
bool takes_tensors_only(const ForwardArguments& arguments);

// ForwardArguments made of their leaves; throws std::out_of_range if there are too few.
InputTuple assemble(const ForwardArguments& arguments, const std::vector<c10::IValue>& leaves);
// The leaves of arguments that are built so; nothing if they aren't.
std::optional<std::vector<c10::IValue>> take_apart(const ForwardArguments& arguments, const InputTuple& values);

}  // namespace nnapi_convert
