// Arguments of forward that --input binds to a value: what depends on them is known before the model runs.
#pragma once

#include <ATen/core/function_schema.h>
#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/load/load.h"
#include "lib/converter/options/options.h"
#include "lib/serialize/argument_tree.h"

namespace nnapi_convert {

// Values of the arguments by name. Throws ConvertError (kUsage) for text that is no value of the argument's type, and
// for names that forward lacks.
BoundValues bound_values(const c10::FunctionSchema& forward, const std::vector<BoundArgument>& bound);

// Tells the specs of tensors from those of values by the types of forward's arguments: gives options that have the
// latter in `bound`, and notes their values in `loaded`. To be called once a file is loaded. Throws ConvertError
// (kUsage) for a spec that doesn't fit the argument that it names.
ConvertOptions bind_arguments(LoadedModel& loaded, const ConvertOptions& options);

// Warns of arguments that are no tensors, have no value, and are read by the graph, whose inputs are `arguments`'
// leaves.
void warn_of_unbound(const torch::jit::Graph& graph, const ForwardArguments& arguments, Diagnostics& diagnostics);

// "; bind it to a value with --input sr=VALUE" for an argument that --input can bind; empty for others.
std::string hint_to_bind(const std::string& name, const c10::TypePtr& type);

// Puts the values in place of the graph's inputs, which stay, unused.
void insert_bound_values(torch::jit::Graph& graph, const c10::FunctionSchema& forward, const BoundValues& bound);

// Throws ConvertError (kNotConvertible) for a graph that raises an error for every input, as the values make it.
void check_bound_values(const torch::jit::Graph& graph, const BoundValues& bound);

}  // namespace nnapi_convert
