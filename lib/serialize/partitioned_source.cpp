// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/partitioned_source.h"

#include <fmt/format.h>

#include "lib/serialize/argument_source.h"
#include "lib/serialize/boundary_source.h"
#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

// Returns the method kCheckMethod. Its parameters have valid Python names; its messages have the path ("images[0]").
std::string check_method(const std::string& self, const ModuleInterface& original) {
  ModuleInterface interface = original;
  for (size_t i = 0; i < interface.inputs.size(); ++i) interface.inputs[i].name = fmt::format("nnapi_tensor_{}", i);
  const nnapi::Model no_model;
  std::string text =
      fmt::format("  def check_inputs(self: {}{}) -> None:\n", self, BoundarySource(no_model, interface).parameters());
  std::vector<std::string> variables;
  for (const InterfaceInput& input : interface.inputs) variables.push_back(input.name);
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const InterfaceInput& input = original.inputs[i];
    if (!input.is_read) continue;
    text += BoundarySource::check_dtype(input, variables[i]) + BoundarySource::check_shape(original, variables, i);
  }
  return text + BoundarySource::check_conditions(original, variables) +
         BoundarySource::check_apart(original, variables) + "    return None\n";
}

}  // namespace

std::string partitioned_source(const PartitionedSource& source) {
  const std::string self = qualified_class(source.class_name);
  const std::string bundled = source.has_bundled_inputs ? bundled_type(source.arguments) : "";
  std::string text = fmt::format("class {}(Module):\n", source.class_name);
  text += "  __parameters__ = []\n  __buffers__ = []\n  training : bool\n";
  for (size_t i = 0; i < source.segment_classes.size(); ++i) {
    text += fmt::format("  segment_{} : {}\n", i, qualified_class(source.segment_classes[i]));
  }
  if (!bundled.empty()) text += fmt::format("  bundled_inputs : List[{}]\n", bundled);
  text += check_method(self, source.interface);
  if (!is_flat(source.arguments)) text += flatten_method(self, source.arguments);
  for (const RowCalls& calls : source.row_calls) text += row_calls_source(calls, self);
  return text + bundled_methods(self, bundled);
}

}  // namespace nnapi_convert
