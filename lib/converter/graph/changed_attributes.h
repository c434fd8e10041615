// Lists the attributes that a model changes as it runs. Freezing leaves them in the graph, and the converted module has
// them too.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/converter/graph/normalised_model.h"

namespace nnapi_convert {

struct StateAttribute {
  std::string path;  // in the original: "layer.count"
  std::string name;  // in the converted module
  c10::TypePtr type;
  c10::IValue value;
};

// With a name for attribute `number` of the converted module.
StateAttribute state_attribute(size_t number, const std::string& path, const c10::TypePtr& type,
                               const c10::IValue& value);

// True for a prim::GetAttr that gives a submodule.
bool gives_module(const torch::jit::Node& node);

// Returns the path of the attribute that a prim::GetAttr or prim::SetAttr reads or sets; empty if the attribute belongs
// to an object that is no module.
std::string attribute_path(const torch::jit::Node& access);

// True for a node of this kind, prim::GetAttr or prim::SetAttr, whose attribute has a path and is no module.
bool is_attribute_access(const torch::jit::Node& node, c10::Symbol kind);

// What the attribute of that path holds.
c10::IValue attribute_value(const torch::jit::Module& module, const std::string& path);

// The paths of the attributes that a method of the module sets or changes in place.
std::set<std::string> attributes_changed_by(const torch::jit::Module& module, const std::string& method);

// The paths of the attributes that the module's other methods read.
std::set<std::string> attributes_read_beside(const torch::jit::Module& module, const std::string& method);

// Throws ConvertError (kNotConvertible) where a module is used in another way than for its attributes, or an attribute
// holds what can't be copied (class_copies.h).
std::vector<StateAttribute> state_of(const NormalisedModel& model);

}  // namespace nnapi_convert
