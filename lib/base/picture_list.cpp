#include "lib/base/picture_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "lib/base/error.h"
#include "lib/base/input_file.h"

namespace nnapi_convert::calibration {
namespace {

namespace fs = std::filesystem;

std::string ending(const fs::path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_picture(const fs::path& path) {
  const std::string text = ending(path);
  return text == ".jpg" || text == ".jpeg" || text == ".png";
}

std::vector<std::string> in_folder(const std::string& folder) {
  std::vector<std::string> paths;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_directory() && is_picture(entry.path())) paths.push_back(entry.path().string());
    }
  } catch (const fs::filesystem_error& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", folder, error.code().message()));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> in_list(const std::string& list) {
  std::string problem;
  const auto text = text_of_file(list, problem);
  if (!text) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", list, problem));
  std::istringstream stream(*text);
  std::vector<std::string> paths;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) paths.push_back((fs::path(list).parent_path() / line).string());
  }
  return paths;
}

}  // namespace

bool names_pictures(const std::string& source) {
  return fs::is_directory(source) || ending(source) == ".txt" || is_picture(source);
}

std::vector<std::string> list_pictures(const std::string& source) {
  const bool is_folder = fs::is_directory(source);
  std::vector<std::string> paths = is_folder            ? in_folder(source)
                                   : is_picture(source) ? std::vector<std::string>{source}
                                                        : in_list(source);
  if (!paths.empty()) return paths;
  throw ConvertError(ExitCode::kBadFile,
                     is_folder ? fmt::format("{}: no picture found; .jpg, .jpeg or .png files needed", source)
                               : fmt::format("{}: no path found; one path a line needed", source));
}

}  // namespace nnapi_convert::calibration
