// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/export_archive.h"

#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/saved_tensors.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;
using Tensors = std::map<std::string, at::Tensor>;

constexpr const char* kModels = "models/";
constexpr const char* kJson = ".json";

class Records {
 public:
  explicit Records(const std::string& path)
      : path_(path), archive_(path), checks_(std::make_shared<SourceChecks>(archive_.file().fd)) {
    archive_.check_records();
    for (const nnapi_shim::ZipRecord& record : archive_.records()) {
      if (is_whole_name(record.name, "archive_format")) {
        root_ = record.name.substr(0, record.name.size() - std::string("archive_format").size());
      }
    }
    for (const nnapi_shim::ZipRecord& record : archive_.records()) {
      if (record.name.rfind(root_, 0) == 0) records_[record.name.substr(root_.size())] = &record;
    }
  }

  const nnapi_shim::ZipRecord* find(const std::string& name) const {
    const auto found = records_.find(name);
    return found == records_.end() ? nullptr : found->second;
  }
  const nnapi_shim::ZipRecord& at(const std::string& name) const {
    const nnapi_shim::ZipRecord* record = find(name);
    if (record == nullptr) fail_export(fmt::format("entry {} is missing", name));
    return *record;
  }
  json read_json(const std::string& name) const { return parse_export(checked_bytes(archive_, at(name))); }
  c10::IValue read_saved(const std::string& name) const { return load_saved(archive_, path_, at(name), checks_.get()); }
  c10::Storage storage(const std::string& name) const { return storage_of(archive_, at(name), checks_.get()); }
  const std::shared_ptr<SourceChecks>& checks() const { return checks_; }
  std::string text(const std::string& name) const { return checked_bytes(archive_, at(name)); }

  std::vector<FolderFile> files_in(const std::string& folder) const {
    std::vector<FolderFile> files;
    for (const auto& [name, record] : records_) {
      const bool is_in = name.rfind(folder, 0) == 0 && name.size() > folder.size();
      if (is_in) files.push_back({name.substr(folder.size()), checked_bytes(archive_, *record)});
    }
    return files;
  }

  std::vector<std::string> model_names() const {
    std::vector<std::string> names;
    for (const auto& [name, record] : records_) {
      const bool is_model = name.rfind(kModels, 0) == 0 && name.size() > std::string(kModels).size() + 5 &&
                            name.substr(name.size() - 5) == kJson;
      if (is_model) names.push_back(name.substr(7, name.size() - 12));
    }
    return names;
  }

 private:
  static bool is_whole_name(const std::string& name, const std::string& wanted) {
    const size_t slash = name.find('/');
    return slash != std::string::npos && name.substr(slash + 1) == wanted;
  }

  std::string path_;
  ArchiveFile archive_;
  std::shared_ptr<SourceChecks> checks_;
  std::string root_;
  std::map<std::string, const nnapi_shim::ZipRecord*> records_;
};

Tensors tensors_of(const c10::IValue& saved, const std::string& entry) {
  if (!saved.isGenericDict()) fail_export(fmt::format("entry {} is no dict of tensors", entry));
  Tensors tensors;
  for (const auto& each : saved.toGenericDict()) {
    if (each.value().isTensor()) {
      tensors[each.key().toStringRef()] = each.value().toTensor();
    }
  }
  return tensors;
}

// Reads weights that lie in records of their own, as `config` describes them.
Tensors tensors_by_config(const Records& records, const std::string& folder, const json& config) {
  Tensors tensors;
  std::map<std::string, c10::Storage> storages;
  std::map<std::string, at::Tensor> same;  // tied weights are one tensor
  for (const auto& [name, payload] : object_of(member(config, "config")).items()) {
    const json* meta = find_member(payload, "tensor_meta");
    const std::string record = text_member(payload, "path_name");
    const json* is_pickled = find_member(payload, "use_pickle");
    if (meta == nullptr || (is_pickled != nullptr && bool_of(*is_pickled))) {
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("{} is a tensor subclass or a custom object, which Python alone can read; replace "
                                     "it by a plain tensor before torch.export",
                                     name));
    }
    const std::string key = record + meta->dump();
    if (const auto found = same.find(key); found != same.end()) {
      tensors[name] = found->second;
      continue;
    }
    auto storage = storages.find(record);
    if (storage == storages.end()) storage = storages.emplace(record, records.storage(folder + record)).first;
    tensors[name] = same[key] = tensor_in(storage->second, read_tensor_meta(*meta, name), name);
  }
  return tensors;
}

Tensors read_tensors(const Records& records, const std::string& model, const std::string& kind) {
  const std::string folder = fmt::format("data/{}/", kind);
  const std::string saved = folder + model + ".pt", config = fmt::format("{}{}_{}_config.json", folder, model, kind);
  if (records.find(config) != nullptr) return tensors_by_config(records, folder, records.read_json(config));
  if (records.find(saved) != nullptr) return tensors_of(records.read_saved(saved), saved);
  return {};
}

void check_byte_order(const Records& records) {
  if (records.find("byteorder") != nullptr && records.text("byteorder") != "little") {
    throw ConvertError(ExitCode::kNotConvertible,
                       "its weights are big-endian; save it on a little-endian machine, such as x86 or ARM");
  }
}

std::string only_model(const Records& records) {
  const std::vector<std::string> models = records.model_names();
  if (models.size() == 1) return models[0];
  if (models.empty()) fail_export("no models/NAME.json found in it");
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("it holds {} models: {}; save each with torch.export.save(program, path) to a file of "
                                 "its own",
                                 models.size(), fmt::join(models, ", ")));
}

// Reads the samples if it can. A program converts without them as well: --verify makes inputs up.
void read_samples(const Records& records, const std::string& name, ExportArchive& result) {
  if (records.find(name) == nullptr || records.at(name).bytes == 0) return;
  try {
    result.samples = records.read_saved(name);
  } catch (const ConvertError& error) {
    if (error.exit_code() != ExitCode::kNotConvertible) throw;
    result.problem_of_samples = error.what();
  }
}

// Reads tensors of PyTorch 2.1 to 2.7. 2.1 gives the file of torch.save the name of a JSON file, and has no constants
// apart.
Tensors read_old_tensors(const Records& records, const std::string& kind) {
  for (const char* ending : {".pt", kJson}) {
    const std::string name = fmt::format("serialized_{}{}", kind, ending);
    if (records.find(name) == nullptr) continue;
    return records.at(name).bytes == 0 ? Tensors() : tensors_of(records.read_saved(name), name);
  }
  return {};
}

ExportArchive read_old_layout(const Records& records) {
  ExportArchive result;
  result.checks = records.checks();
  result.program = records.read_json("serialized_exported_program.json");
  result.weights = read_old_tensors(records, "state_dict");
  result.constants = read_old_tensors(records, "constants");
  read_samples(records, "serialized_example_inputs.pt", result);
  result.extra_files = records.files_in("extra_files/");
  return result;
}

}  // namespace

ExportArchive read_export_archive(const std::string& path) {
  const Records records(path);
  if (records.find("serialized_exported_program.json") != nullptr) return read_old_layout(records);
  check_byte_order(records);
  const std::string model = only_model(records);
  ExportArchive result;
  result.checks = records.checks();
  result.program = records.read_json(kModels + model + kJson);
  result.weights = read_tensors(records, model, "weights");
  result.constants = read_tensors(records, model, "constants");
  read_samples(records, fmt::format("data/sample_inputs/{}.pt", model), result);
  result.extra_files = records.files_in("extra/");
  return result;
}

}  // namespace nnapi_convert
