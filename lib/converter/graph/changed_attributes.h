// SPDX-License-Identifier: BSD-3-Clause
// Lists the attributes that a model changes as it runs. Freezing leaves them in the graph, and the converted module has
// them too.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/normalised_model.h"

namespace nnapi_convert {

struct StateAttribute {
  AttributePath path;  // in the original
  std::string name;    // in the converted module
  c10::TypePtr type;
  c10::IValue value;
};

// Returns the attribute, with a name for number `number` of the converted module's state.
StateAttribute state_attribute(size_t number, const AttributePath& path, const c10::TypePtr& type,
                               const c10::IValue& value);

// Returns the paths of the attributes that a method of the module sets or changes in place.
std::set<AttributePath> attributes_changed_by(const torch::jit::Module& module, const std::string& method);

// Returns the paths of the attributes that the module's other methods read.
std::set<AttributePath> attributes_read_beside(const torch::jit::Module& module, const std::string& method);

// Returns the attributes that the model changes. Throws ConvertError (kNotConvertible) where a module is used in
// another way than for its attributes, or an attribute holds what can't be copied (class_copies.h).
std::vector<StateAttribute> state_of(const NormalisedModel& model);

}  // namespace nnapi_convert
