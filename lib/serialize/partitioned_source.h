// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript source of a partitioned model's class, without forward, which another stage makes as a graph.
#pragma once

#include <string>
#include <vector>

#include "lib/serialize/argument_tree.h"
#include "lib/serialize/module_interface.h"
#include "lib/serialize/row_calls_source.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {

// The method that checks the inputs; its arguments are the tensor inputs in the interface's order.
constexpr const char* kCheckMethod = "check_inputs";

struct PartitionedSource {
  const ModuleInterface& interface;  // its inputs are the tensors among the leaves of `arguments`
  const ForwardArguments& arguments;
  std::vector<std::string> segment_classes;
  std::vector<RowCalls> row_calls;
  bool has_bundled_inputs = false;
  std::string class_name = kWrapperClass;
};

// Returns the source of the class. The class has the attributes training, segment_<n> and, if there are
// any, bundled_inputs. Its method kCheckMethod raises an error for sizes that the model was not converted for. It has a
// method for each of `row_calls` and, if an argument is no leaf, the method kFlattenMethod.
std::string partitioned_source(const PartitionedSource& source);

}  // namespace nnapi_convert
