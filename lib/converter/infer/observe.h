// Finds the types of what an operation without a rule gives, by running it once on made-up tensors.
#pragma once

#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True if it is known of the operation that its results' sizes depend on values.
bool sizes_depend_on_values(const TorchNode& node);
// A tensor of a type: 0.5 or, of whole numbers, 0. Nothing where a size is not fixed.
std::optional<at::Tensor> made_up_tensor(const TensorType& type);

// A type for each output; nothing where an input's type is not known or not fixed, a result is no tensor or list of
// tensors, its sizes depend on values, or the operation doesn't run here.
std::optional<std::vector<ValueType>> observed_types(const TorchNode& node, const TypeMap& types);
// The same; `error` gets PyTorch's reason where the operation raises an error.
std::optional<std::vector<ValueType>> observed_types(const TorchNode& node, const TypeMap& types, std::string& error);

// The results of an operation that gives empty tensors only, which are known without values; nothing for any other, or
// where its types can't be observed.
std::optional<std::vector<at::Tensor>> observed_empties(const TorchNode& node, const TypeMap& types);

// True if the operator changes a tensor in place, or writes into one (out=), that gets another shape by that.
bool reshapes_argument(const TorchNode& node, const TypeMap& types);

// True if `input` is a number on whose value no size of the node's results depends.
bool takes_any_number(const TorchNode& node, const TorchValue& input);

}  // namespace nnapi_convert
