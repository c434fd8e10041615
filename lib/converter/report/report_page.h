// A report as one web page that needs nothing else: no network, no other file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nnapi_convert {

// `report` is by schemas/report.schema.json. Whatever its texts say, they stay text.
std::string report_page(const nlohmann::json& report);

// True for paths that end in .html or .htm.
bool is_page(const std::string& path);

// The text of a report for the file at `path`: the page, or indented JSON.
std::string report_text(const nlohmann::json& report, const std::string& path);

}  // namespace nnapi_convert
