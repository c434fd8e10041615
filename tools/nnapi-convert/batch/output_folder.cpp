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

std::vector<std::string> output_names(const BatchModel& model, const std::string& extension) {
  std::vector<std::string> names = {model.name + "." + extension, model.name + ".report.json"};
  const auto emit_cpu = model.options.find("emit-cpu");
  if (emit_cpu != model.options.end() && emit_cpu->second.front() == "true") {
    names.push_back(model.name + ".cpu." + extension);
  }
  return names;
}

}  // namespace nnapi_convert
