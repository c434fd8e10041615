// The graph of a file that nnapi-convert wrote, and its report.
#pragma once

#include <nlohmann/json.hpp>

#include "lib/converter/load/converted_file.h"
#include "lib/converter/partition/model_graph.h"

namespace nnapi_convert {

// The operations of its segments, and between them those of the module's forward that the CPU runs. PyTorch's buffers
// hold no names and no source lines.
ModelGraph graph_of(const ConvertedFile& file);

// By schemas/report.schema.json, as far as the file tells.
nlohmann::json report_of(const ConvertedFile& file, const std::string& path);

// The graph in Graphviz's language: a cluster for each segment.
std::string to_dot(const ModelGraph& graph);

}  // namespace nnapi_convert
