// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/manifest.h"

#include <fmt/format.h>

#include <initializer_list>

#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/base/json_problem.h"
#include "lib/format/json_nesting.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kManifestVersion = 1;

[[noreturn]] void refuse_manifest(const std::string& where, const std::string& problem) {
  throw ConvertError(ExitCode::kUsage, where + ": " + problem);
}

json read_json(const std::string& path) {
  std::string problem;
  const auto text = text_of_file(path, problem);
  if (!text) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
  if (is_nested_too_deep(*text)) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("{}: lists or objects more than {} deep found", path, kMostNestedJson));
  }
  try {
    return json::parse(*text);
  } catch (const json::parse_error& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", path, json_problem(error)));
  }
}

void check_keys(const json& object, std::initializer_list<const char*> known, const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&key = key](const char* name) { return key == name; });
    if (!is_known)
      refuse_manifest(where + "/" + key, fmt::format("no such key; the keys are {}", fmt::join(known, ", ")));
  }
}

std::string text_at(const json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) refuse_manifest(where, fmt::format("\"{}\" is missing", key));
  if (!found->is_string() || found->get_ref<const std::string&>().empty()) {
    refuse_manifest(where + "/" + key, found->dump() + " found, a string needed");
  }
  return *found;
}

// Checks that the name stays below the output folder.
void check_name(const std::string& name, const std::string& where) {
  const fs::path path = name;
  bool is_inside = path.is_relative() && !path.filename().empty();
  for (const fs::path& part : path) is_inside = is_inside && part.string()[0] != '.';
  if (!is_inside) {
    refuse_manifest(
        where, fmt::format("the name \"{}\" is no place below the output folder; give another with \"name\"", name));
  }
}

BatchModel read_model(const json& entry, const ZooRequest& request, const OptionSet& defaults,
                      const std::string& where) {
  const fs::path folder = fs::path(request.zoo).parent_path();
  if (!entry.is_object()) refuse_manifest(where, entry.dump() + " found, an object with \"model\" needed");
  check_keys(entry, {"model", "name", "options"}, where);
  BatchModel model;
  model.shown = text_at(entry, "model", where);
  model.file = folder / model.shown;
  const fs::path shown = model.shown;
  model.name = entry.contains("name") ? text_at(entry, "name", where)
                                      : (shown.parent_path() / shown.stem()).lexically_normal().generic_string();
  check_name(model.name, where);
  const json options = entry.value("options", json::object());
  model.options = merge(defaults, read_options(options, request.rules, folder, where + "/options"));
  try {
    request.check_options(model.options);
  } catch (const ConvertError& error) {
    model.wrong_options = error.what();  // only this model fails
  }
  return model;
}

// Returns the options that hold for all models. Throws ConvertError (kUsage) for wrong options.
OptionSet read_defaults(const json& manifest, const ZooRequest& request, const std::string& where) {
  const json defaults = manifest.value("defaults", json::object());
  const OptionSet options =
      merge(read_options(defaults, request.rules, fs::path(request.zoo).parent_path(), where), request.command_line);
  try {
    request.check_options(options);
  } catch (const ConvertError& error) {
    refuse_manifest(where, error.what());
  }
  return options;
}

}  // namespace

std::vector<BatchModel> models_of_manifest(const ZooRequest& request) {
  const std::string where = request.zoo + ": ";
  const json manifest = read_json(request.zoo);
  if (!manifest.is_object()) refuse_manifest(where + "/", "an object with \"version\" and \"models\" needed");
  check_keys(manifest, {"version", "defaults", "models"}, where);
  if (!manifest.contains("version")) refuse_manifest(where + "/", "\"version\" is missing");
  if (manifest["version"] != kManifestVersion) {
    refuse_manifest(where + "/version",
                    fmt::format("{} found, {} needed", manifest["version"].dump(), kManifestVersion));
  }
  const OptionSet options = read_defaults(manifest, request, where + "/defaults");
  if (!manifest.contains("models")) refuse_manifest(where + "/", "\"models\" is missing");
  const json& entries = manifest["models"];
  if (!entries.is_array() || entries.empty()) refuse_manifest(where + "/models", "a list of at least one model needed");
  std::vector<BatchModel> models;
  for (size_t i = 0; i < entries.size(); ++i) {
    models.push_back(read_model(entries[i], request, options, fmt::format("{}/models/{}", where, i)));
  }
  return models;
}

}  // namespace nnapi_convert
