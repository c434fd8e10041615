// SPDX-License-Identifier: BSD-3-Clause
#include "lib/base/picture_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <utility>

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

bool is_array(const fs::path& path) {
  const std::string text = ending(path);
  return text == ".npy" || text == ".npz";
}

// Returns the files in a folder and its subfolders for which `is_wanted` returns true, in the order of their paths.
std::vector<ListedPicture> in_folder(const std::string& folder, bool (*is_wanted)(const fs::path& path)) {
  std::vector<std::string> paths;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_directory() && is_wanted(entry.path())) paths.push_back(entry.path().string());
    }
  } catch (const fs::filesystem_error& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", folder, error.code().message()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ListedPicture> files;
  for (const std::string& path : paths) files.push_back({path, fs::path(path).lexically_relative(folder).string()});
  return files;
}

// Returns where the path ends and where the label begins in a line of a list.
std::pair<size_t, size_t> columns_of(const std::string& line, const fs::path& folder) {
  const auto label_after = [&](size_t end) {
    return std::pair(end, std::min(line.find_first_not_of(" \t", end), line.size()));
  };
  const size_t tab = line.find('\t');
  if (tab != std::string::npos) return label_after(tab);
  std::error_code ignored;
  if (fs::exists(folder / line, ignored)) return {line.size(), line.size()};
  for (size_t space = line.find(' '); space != std::string::npos; space = line.find(' ', space + 1)) {
    if (fs::is_regular_file(folder / line.substr(0, space), ignored)) return label_after(space);
  }
  return {line.size(), line.size()};
}

std::vector<ListedPicture> in_list(const std::string& list) {
  std::string problem;
  const auto text = text_of_file(list, problem);
  if (!text) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", list, problem));
  std::istringstream stream(*text);
  const fs::path folder = fs::path(list).parent_path();
  std::vector<ListedPicture> pictures;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const auto [end, label] = columns_of(line, folder);
    const std::string name = line.substr(0, end);
    pictures.push_back({(folder / name).string(), name, line.substr(label)});
  }
  return pictures;
}

}  // namespace

bool names_arrays(const std::string& source) {
  return fs::is_directory(source) ? !list_arrays(source).empty() : is_array(source);
}

bool names_pictures(const std::string& source) {
  if (fs::is_directory(source)) return list_arrays(source).empty();
  return ending(source) == ".txt" || is_picture(source);
}

std::vector<ListedPicture> list_pictures(const std::string& source) {
  const bool is_folder = fs::is_directory(source);
  std::vector<ListedPicture> pictures = is_folder ? in_folder(source, is_picture)
                                        : is_picture(source)
                                            ? std::vector<ListedPicture>{{source, fs::path(source).filename().string()}}
                                            : in_list(source);
  if (!pictures.empty()) return pictures;
  throw ConvertError(
      ExitCode::kBadFile,
      is_folder ? fmt::format("{}: no picture and no array found; .jpg, .jpeg, .png, .npy or .npz files needed", source)
                : fmt::format("{}: no path found; one path a line needed", source));
}

std::vector<ListedPicture> list_arrays(const std::string& source) {
  if (!fs::is_directory(source)) return {};
  std::vector<ListedPicture> arrays = in_folder(source, is_array);
  if (arrays.empty()) return arrays;
  const std::vector<ListedPicture> pictures = in_folder(source, is_picture);
  if (pictures.empty()) return arrays;
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("{}: pictures and arrays found, as {} and {}; a folder of one of both needed", source,
                                 pictures[0].name, arrays[0].name));
}

}  // namespace nnapi_convert::calibration
