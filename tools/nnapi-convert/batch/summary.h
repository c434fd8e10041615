// SPDX-License-Identifier: BSD-3-Clause
// Writes a batch's results as JSON (schemas/batch_summary.schema.json), a table for the terminal, Markdown and JUnit's
// XML. JSON and Markdown contain no measured number: the same zoo gives the same bytes, even after interrupted runs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/nnapi-convert/batch/batch_model.h"
#include "tools/nnapi-convert/batch/outcome.h"

namespace nnapi_convert {

struct Batch {
  std::string zoo;
  std::string program;  // name and version
  std::vector<BatchModel> models;
  std::vector<Outcome> outcomes;  // one for each model
  double seconds = 0;
  uint64_t peak_bytes = 0;
};

nlohmann::json summary_json(const Batch& batch);
// Returns a table for people, then the reasons of failures, and the number of models of each status.
std::string summary_text(const Batch& batch);
// Returns the summary as Markdown, with `comparison` at the end; it may be empty.
std::string summary_markdown(const nlohmann::json& summary, const std::string& comparison);
std::string summary_junit(const Batch& batch);

}  // namespace nnapi_convert
