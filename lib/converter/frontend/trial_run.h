// SPDX-License-Identifier: BSD-3-Clause
// Finds the result types of an operation without a rule: runs the operation once on made-up tensors.
#pragma once

#include <optional>
#include <vector>

#include "lib/ops/op_context.h"

namespace nnapi_convert {

// True for operations in a list of those whose results' sizes depend on values.
bool sizes_depend_on_values(const TorchNode& node);
// Returns a tensor of the type, filled with 0.5, or with 0 for integers; nothing if a size is not fixed, or for
// more than 2^30 elements.
std::optional<at::Tensor> made_up_tensor(const TensorType& type);

// Returns a type for each output. Returns nothing if an input's type is unknown or has open sizes, if a result is no
// tensor or list of tensors, if the results' sizes depend on values, or if the operation doesn't run on this machine.
std::optional<std::vector<ValueType>> observed_types(const TorchNode& node, const TypeMap& types);
// Returns a type for each output, or nothing; sets `error` to PyTorch's reason if the operation raises an error.
std::optional<std::vector<ValueType>> observed_types(const TorchNode& node, const TypeMap& types, std::string& error);

// True if the operation may raise an error for some values of computed tensors and none for others: an error on
// made-up values, as of a mask with another number of true elements, is no proof then.
bool may_fail_by_values(const TorchNode& node, const TypeMap& types);

// Returns the results of an operation whose results are all empty tensors; nothing for other operations, and if the
// types can't be observed.
std::optional<std::vector<at::Tensor>> observed_empties(const TorchNode& node, const TypeMap& types);

// True if the operator may change the shape of a tensor that it changes in place or writes into (out=).
bool reshapes_argument(const TorchNode& node, const TypeMap& types);

// True if `input` is a number and no size of the node's results depends on its value.
bool takes_any_number(const TorchNode& node, const TorchValue& input);

}  // namespace nnapi_convert
