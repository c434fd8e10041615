// SPDX-License-Identifier: BSD-3-Clause
// Binds arguments of forward to values given by --input, so that values computed from them are known at conversion.
#pragma once

#include <ATen/core/function_schema.h>
#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/load/load.h"
#include "lib/serialize/argument_tree.h"
#include "lib/types/options.h"

namespace nnapi_convert {

// Returns the values of the arguments, and of parts of arguments ("state[2]"), by name. Throws ConvertError (kUsage)
// for text that is no value of the argument's type, and for names that forward lacks.
BoundValues bound_values(const c10::FunctionSchema& forward, const std::vector<BoundArgument>& bound);

// Separates specs of tensors from specs of values by the types of forward's arguments. Returns options with the specs
// of values in `bound`, with what torch.export fixed, and stores the values in `loaded`. Puts the steps of
// --input-pixels before forward. Call it once a file is loaded. Throws ConvertError (kUsage) for a spec that doesn't
// fit its argument.
ConvertOptions bind_arguments(LoadedModel& loaded, const ConvertOptions& options);

// Warns of arguments that are no tensors and have no value, but that the graph reads. The graph's inputs are the leaves
// of `arguments`.
void warn_of_unbound(const torch::jit::Graph& graph, const ForwardArguments& arguments, Diagnostics& diagnostics);

// Returns "; bind it to a value with --input sr=VALUE" for an argument that --input can bind; empty for others.
std::string hint_to_bind(const std::string& name, const c10::TypePtr& type);

// Replaces all uses of the bound inputs of the graph by the values. The inputs stay, unused.
void insert_bound_values(torch::jit::Graph& graph, const c10::FunctionSchema& forward, const BoundValues& bound);

// Throws ConvertError (kNotConvertible) if the graph raises an error for every input because of the bound values.
void check_bound_values(const torch::jit::Graph& graph, const BoundValues& bound);

}  // namespace nnapi_convert
