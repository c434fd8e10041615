// A batch's results: JSON by schemas/batch_summary.schema.json, a table for the terminal, Markdown, and JUnit's XML.
// JSON and Markdown hold nothing that is measured: the same zoo gives the same bytes, however often the run was
// interrupted.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/batch/batch_model.h"
#include "lib/batch/outcome.h"

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
// Columns for people, then why models failed, and how many there are of each kind.
std::string summary_text(const Batch& batch);
// `comparison` is put at the end; may be empty.
std::string summary_markdown(const nlohmann::json& summary, const std::string& comparison);
std::string summary_junit(const Batch& batch);

}  // namespace nnapi_convert
