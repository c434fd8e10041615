// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/output_folder.h"

namespace nnapi_convert {

namespace fs = std::filesystem;

fs::path state_folder(const fs::path& output_folder) {
  return output_folder / ".nnapi-batch";
}

fs::path staging_folder(const fs::path& output_folder, size_t number) {
  return state_folder(output_folder) / "staging" / std::to_string(number);
}

fs::path record_path(const fs::path& output_folder, const std::string& name) {
  return state_folder(output_folder) / "records" / (name + ".json");
}

std::vector<BatchOutput> outputs_of(const BatchModel& model, const std::string& extension) {
  std::vector<BatchOutput> outputs = {{"output", model.name + "." + extension},
                                      {"report", model.name + ".report.json"}};
  const std::vector<BatchOutput> further = {{"emit-cpu", ".cpu." + extension}, {"litert", ".tflite"}};
  for (const auto& [option, ending] : further) {
    const auto found = model.options.find(option);
    const bool is_on = found != model.options.end() && found->second.front() == "true";
    if (is_on) outputs.push_back({option, model.name + ending});
  }
  return outputs;
}

}  // namespace nnapi_convert
