// The TorchScript source of a partitioned model's class, but for forward, which is made as a graph.
#pragma once

#include <string>
#include <vector>

#include "lib/serialize/module_interface.h"
#include "lib/serialize/row_calls_source.h"

namespace nnapi_convert {

// The class is kWrapperClass and has the attributes training, segment_<n> and, with a `bundled_type`, bundled_inputs;
// and the method check_inputs, which raises for sizes other than those that the model was converted for, and a method
// for each of `row_calls`.
std::string host_source(const ModuleInterface& interface, const std::vector<std::string>& segment_classes,
                        const std::vector<RowCalls>& row_calls, const std::string& bundled_type);

}  // namespace nnapi_convert
