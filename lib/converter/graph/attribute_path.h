// SPDX-License-Identifier: BSD-3-Clause
// Names an attribute of a module or of one of its submodules. A name may hold any character, dots among them (PyTorch's
// passes call attributes "quantized._jit_pass_packed_weight_0"): a path is a list of names, never a text.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace nnapi_convert {

// The names on the way from the module to the attribute: {"layer", "count"}.
using AttributePath = std::vector<std::string>;

// Returns the path as text, for messages only.
std::string path_text(const AttributePath& path);

// True for a prim::GetAttr that gives a submodule.
bool gives_module(const torch::jit::Node& node);

// Returns the path of the attribute that a prim::GetAttr or prim::SetAttr reads or sets; empty if the attribute belongs
// to an object that is no module.
AttributePath attribute_path(const torch::jit::Node& access);

// True for a node of this kind, prim::GetAttr or prim::SetAttr, whose attribute has a path and is no module.
bool is_attribute_access(const torch::jit::Node& node, c10::Symbol kind);

// Returns what the attribute of that path holds.
c10::IValue attribute_value(const torch::jit::Module& module, const AttributePath& path);

}  // namespace nnapi_convert
