#include "lib/serialize/host_source.h"

#include <fmt/format.h>

#include "lib/serialize/boundary_source.h"
#include "lib/serialize/source_text.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {

std::string host_source(const ModuleInterface& interface, const std::vector<std::string>& segment_classes,
                        const std::vector<RowCalls>& row_calls, const std::string& bundled_type) {
  const nnapi::Model no_model;
  const BoundarySource boundary(no_model, interface);
  const std::string self = qualified_class(kWrapperClass);
  std::string text = fmt::format("class {}(Module):\n", kWrapperClass);
  text += "  __parameters__ = []\n  __buffers__ = []\n  training : bool\n";
  for (size_t i = 0; i < segment_classes.size(); ++i) {
    text += fmt::format("  segment_{} : {}\n", i, qualified_class(segment_classes[i]));
  }
  if (!bundled_type.empty()) text += fmt::format("  bundled_inputs : List[{}]\n", bundled_type);
  text += fmt::format("  def check_inputs(self: {}{}) -> None:\n", self, boundary.parameters());
  for (const InterfaceInput& input : interface.inputs) {
    if (input.is_read) text += BoundarySource::check_dtype(input) + BoundarySource::check_shape(input);
  }
  text += "    return None\n";
  for (const RowCalls& calls : row_calls) text += row_calls_source(calls, self);
  return text + bundled_methods(self, bundled_type);
}

}  // namespace nnapi_convert
