// SPDX-License-Identifier: BSD-3-Clause
// Makes a report's web page: one file that needs no network and no other file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nnapi_convert {

// Returns the page. `report` has the form of schemas/report.schema.json. Its texts are escaped.
std::string report_page(const nlohmann::json& report);

// True for paths that end in .html or .htm.
bool is_page(const std::string& path);

// Returns the text of a report for the file at `path`: the page, or indented JSON.
std::string report_text(const nlohmann::json& report, const std::string& path);

}  // namespace nnapi_convert
