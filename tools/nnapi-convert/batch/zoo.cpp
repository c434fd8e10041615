// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/zoo.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "tools/nnapi-convert/batch/manifest.h"
#include "tools/nnapi-convert/batch/output_folder.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

bool is_model_file(const fs::path& path) {
  static const std::set<std::string> extensions = {".pt", ".pt2", ".ptl", ".pth"};
  return extensions.count(path.extension().string()) != 0;
}

BatchModel model_of(const fs::path& file, const fs::path& root, const OptionSet& options) {
  const fs::path shown = file.lexically_relative(root);
  return {(shown.parent_path() / shown.stem()).generic_string(), file, shown.generic_string(), options};
}

// Returns true if the path, with links followed, is the folder or below it.
bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path inner = resolved(path), outer = resolved(folder);
  const auto [end, other] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return end == outer.end() || (end->empty() && std::next(end) == outer.end());
}

// Returns true for the output folder and for the output folder of an earlier batch.
bool is_of_results(const fs::path& folder, const fs::path& output_folder) {
  std::error_code ignored;
  return is_below(folder, output_folder) || fs::is_directory(state_folder(folder), ignored);
}

// Returns true if a folder between the root and the file is an output folder.
bool is_result(const fs::path& file, const fs::path& root, const fs::path& output_folder) {
  fs::path folder = root;
  for (const fs::path& part : file.lexically_relative(root).parent_path()) {
    folder /= part;
    if (is_of_results(folder, output_folder)) return true;
  }
  return is_below(file, output_folder);
}

[[noreturn]] void fail_within(const std::string& what, const fs::path& output_folder) {
  throw ConvertError(ExitCode::kUsage,
                     fmt::format("{} lies in the output folder {}, and what is there counts as results; write to "
                                 "another folder",
                                 what, output_folder.string()));
}

std::vector<BatchModel> models_in_folder(const ZooRequest& request) {
  const fs::path root = request.zoo;
  if (is_below(root, request.output_folder)) fail_within(request.zoo, request.output_folder);
  std::vector<BatchModel> models;
  std::error_code error;
  fs::recursive_directory_iterator entry(root, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const bool is_hidden = entry->path().filename().string()[0] == '.';
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (is_hidden || is_of_results(entry->path(), request.output_folder)) entry.disable_recursion_pending();
    } else if (!is_hidden && is_model_file(entry->path()) && !is_below(entry->path(), request.output_folder)) {
      models.push_back(model_of(entry->path(), root, request.command_line));
    }
  }
  if (error) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", request.zoo, error.message()));
  if (models.empty())
    throw ConvertError(ExitCode::kUsage, request.zoo + ": no .pt, .pth, .ptl or .pt2 file in this folder");
  return models;
}

std::vector<BatchModel> models_of_pattern(const ZooRequest& request) {
  const size_t wildcard = request.zoo.find_first_of("*?[");
  const size_t slash = request.zoo.rfind('/', wildcard);
  const fs::path root = slash == std::string::npos ? fs::path() : fs::path(request.zoo.substr(0, slash + 1));
  glob_t found = {};
  const int result = ::glob(request.zoo.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<BatchModel> models;
  size_t results = 0;
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    const fs::path file = found.gl_pathv[i];
    if (fs::is_directory(file)) continue;
    if (is_result(file, root, request.output_folder)) {
      ++results;
    } else {
      models.push_back(model_of(file, root, request.command_line));
    }
  }
  ::globfree(&found);
  if (result != 0 && result != GLOB_NOMATCH) throw ConvertError(ExitCode::kBadFile, "can't read " + request.zoo);
  if (models.empty() && results > 0) fail_within(request.zoo, request.output_folder);
  if (models.empty()) throw ConvertError(ExitCode::kUsage, request.zoo + ": no file matches this pattern");
  return models;
}

// Gives models that differ only in their extension, such as model.pt and model.ptl, different names: the first keeps
// its name, the others get their extension, so that each has results of its own.
void name_apart(std::vector<BatchModel>& models) {
  std::set<std::string> taken;
  for (BatchModel& model : models) {
    if (taken.insert(model.name).second) continue;
    model.name += model.file.extension().string();
    taken.insert(model.name);
  }
}

}  // namespace

std::vector<BatchModel> find_models(const ZooRequest& request) {
  std::error_code ignored;
  std::vector<BatchModel> models;
  if (fs::is_directory(request.zoo, ignored)) {
    models = models_in_folder(request);
  } else if (fs::path(request.zoo).extension() == ".json") {
    models = models_of_manifest(request);
    for (const BatchModel& model : models) {
      if (is_below(model.file, request.output_folder)) fail_within(model.file.string(), request.output_folder);
    }
    return models;
  } else if (request.zoo.find_first_of("*?[") != std::string::npos) {
    models = models_of_pattern(request);
  } else if (fs::exists(request.zoo, ignored)) {
    throw ConvertError(ExitCode::kUsage, request.zoo +
                                             ": a folder, a pattern in quotes or a .json manifest needed; one " +
                                             "model is converted without batch");
  } else {
    throw ConvertError(ExitCode::kBadFile, request.zoo + ": no such file or folder");
  }
  std::sort(models.begin(), models.end(), [](const BatchModel& a, const BatchModel& b) { return a.shown < b.shown; });
  name_apart(models);
  return models;
}

}  // namespace nnapi_convert
