// SPDX-License-Identifier: BSD-3-Clause
// Writes pieces of TorchScript source for all emitted classes.
#pragma once

#include <string>
#include <vector>

#include "lib/base/script_literal.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

// Returns a float literal with all digits and a point or exponent.
std::string number(double value);
// Returns the literal of a number, bool, text or None.
std::string literal(const c10::IValue& value);
// Returns true for types of dict keys that a text can name.
bool is_named_key(const c10::Type& type);
// Returns the text of a dict's key, as a ValuePath has it.
std::string key_text(const c10::IValue& key);
// Returns the type of a dict's key.
c10::TypePtr key_type(const c10::IValue& key);

// A part of a message: a text of any characters, or an expression whose value the message shows.
struct MessagePart {
  std::string text;
  bool is_expression = false;
};
// Returns the expression of the message.
std::string message(const std::vector<MessagePart>& parts);
// Returns the expression of the tree's tuple, list or dict; `elements` are expressions.
std::string collection(const ReturnTree& tree, const std::vector<std::string>& elements);
// Returns the type of a tree, such as "Tensor" or "Tuple[Tensor, List[Tensor]]".
std::string return_type(const ReturnTree& tree);
// Returns the methods that torch.utils.bundled_inputs adds and speed_benchmark_torch calls; empty without a type.
std::string bundled_methods(const std::string& class_name, const std::string& bundled_type);

}  // namespace nnapi_convert
