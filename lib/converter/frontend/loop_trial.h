// SPDX-License-Identifier: BSD-3-Clause
// Tries a round of a loop: infers what the body returns on a copy of it.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/op_context.h"

namespace nnapi_convert {

// The knowledge about a value: nothing, the type of a tensor, or the constant that a number, string... is.
using Known = std::variant<std::monostate, TensorType, c10::IValue>;

// Returns the types of all values of a graph whose inputs have the given types. May change the graph.
using InferTypes = std::function<TypeMap(NormalisedModel& body, const TypeMap& input_types)>;

// Returns the type of a tensor; nothing for other values, and where it is unknown.
std::optional<TensorType> known_type(const torch::jit::Value* value, const TypeMap& types);

Known known_of(const torch::jit::Value* value, const TypeMap& types);

// True where loops within the loop are nested so deep that trials, of which each tries what is within, would not end.
bool is_nested_too_deep(const torch::jit::Node& loop);

// Returns what is known of the results of a loop's body, the condition of the next round first, if the body takes
// `given`: the counter and the carried values.
std::vector<Known> after_round(torch::jit::Node& loop, const TypeMap& types, const std::vector<Known>& given,
                               const InferTypes& infer_types);

// Returns how many rounds a loop runs, if what is known of the types says so: a `while` on a counter or on sizes, a
// `for` with `break` or `continue`. Nothing for loops that depend on other values, and for loops of more than 1,000
// rounds, of more than 200 loops within, or of more than kMostUnrolledNodes nodes when unrolled, and for those that are
// nested too deep.
std::optional<int64_t> tried_rounds(torch::jit::Node& loop, const TypeMap& types, const InferTypes& infer_types);

}  // namespace nnapi_convert
