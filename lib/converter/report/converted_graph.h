// SPDX-License-Identifier: BSD-3-Clause
// Reads the graph of a file that nnapi-convert wrote, and makes its report.
#pragma once

#include <nlohmann/json.hpp>

#include "lib/converter/load/converted_file.h"
#include "lib/converter/plan/model_graph.h"

namespace nnapi_convert {

// Returns the graph: the NNAPI operations of the segments, and the CPU's operations in the module's forward. The
// buffers of PyTorch's runtime have no names and no source lines.
ModelGraph graph_of(const ConvertedFile& file);

// Returns the parts of a report (schemas/report.schema.json) that the file tells.
nlohmann::json report_of(const ConvertedFile& file, const std::string& path);

// Returns the graph in Graphviz's language, with a cluster for each segment.
std::string to_dot(const ModelGraph& graph);

}  // namespace nnapi_convert
