// The TorchScript source of a partitioned model's class, but for forward, which is made as a graph.
#pragma once

#include <string>
#include <vector>

#include "lib/serialize/argument_tree.h"
#include "lib/serialize/module_interface.h"
#include "lib/serialize/row_calls_source.h"

namespace nnapi_convert {

// Takes the inputs that are tensors, in the interface's order.
constexpr const char* kCheckMethod = "check_inputs";

struct HostSource {
  const ModuleInterface& interface;  // its inputs are the leaves of the arguments that are tensors
  const ForwardArguments& arguments;
  std::vector<std::string> segment_classes;
  std::vector<RowCalls> row_calls;
  bool has_bundled_inputs = false;
};

// The class is kWrapperClass and has the attributes training, segment_<n> and, where there are any, bundled_inputs; the
// method kCheckMethod, which raises for sizes other than those that the model was converted for; a method for each of
// `row_calls`; and, where an argument is no leaf, the method kFlattenMethod.
std::string host_source(const HostSource& source);

}  // namespace nnapi_convert
