// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/sample_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "lib/base/counted.h"
#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/converter/samples/samples_by_name.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

using Classes = std::vector<std::optional<size_t>>;

constexpr const char* kBlanks = " \t";

[[noreturn]] void refuse_label(const std::string& place, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", place, problem));
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(kBlanks), end = text.find_last_not_of(kBlanks);
  return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

std::optional<size_t> number_of(const std::string& text) {
  constexpr size_t kMostDigits = 9;
  const bool is_number =
      !text.empty() && text.size() <= kMostDigits && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::optional<size_t>(std::stoul(text)) : std::nullopt;
}

std::string needed_text(const KnownClasses& known) {
  const std::string number =
      known.count ? fmt::format("a number from 0 to {}", *known.count - 1) : std::string("a number from 0 on");
  return known.names.empty() ? number + "; with --labels FILE names are taken, too"
                             : number + ", or a name of --labels that stands there once";
}

// Returns the place of a name that occurs once; nothing for other names.
std::optional<size_t> place_among(const std::string& name, const std::vector<std::string>& names) {
  if (std::count(names.begin(), names.end(), name) != 1) return std::nullopt;
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

size_t class_of(const std::string& label, const KnownClasses& known, const std::string& place) {
  if (const auto named = place_among(label, known.names)) return *named;
  const auto number = number_of(label);
  if (number && (!known.count || *number < *known.count)) return *number;
  refuse_label(place, fmt::format("class '{}' found, needed is {}", label, needed_text(known)));
}

struct Line {
  size_t number = 0;  // in the file, from 1
  std::string text;
};

std::vector<Line> lines_of(const std::string& path) {
  std::string problem;
  const auto text = text_of_file(path, problem);
  if (!text) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
  std::istringstream stream(*text);
  std::vector<Line> lines;
  size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!trimmed(line).empty()) lines.push_back({number, trimmed(line)});
  }
  return lines;
}

constexpr const char* kSeparators = "\t, ";

// Returns the sample that a line names, and its label: a tab, comma or space is between them, and both may hold some.
std::optional<std::pair<size_t, std::string>> named_sample(const std::string& line, const SamplesByName& samples) {
  for (size_t at = line.find_first_of(kSeparators); at != std::string::npos;
       at = line.find_first_of(kSeparators, at + 1)) {
    const auto sample = samples.find(trimmed(line.substr(0, at)));
    if (sample) return std::pair(*sample, trimmed(line.substr(at + 1)));
  }
  return std::nullopt;
}

// Reads the classes from a file with a line for each sample of the source, in order.
Classes in_order(const std::vector<Line>& lines, const CalibrationOptions& options, const CalibrationData& data,
                 const KnownClasses& known) {
  const std::string& path = options.sample_labels;
  if (lines.size() != data.found) {
    refuse_label(
        "--sample-labels " + path,
        fmt::format("{} found and {} in {}: needed is a class for each sample, in order, or lines with the path of a "
                    "picture and its class",
                    counted(lines.size(), "line"), counted(data.found, "sample"), options.source));
  }
  Classes classes;
  for (const SampleName& name : data.names) {
    const Line& line = lines.at(name.number);
    classes.push_back(class_of(line.text, known, fmt::format("--sample-labels {}: line {}", path, line.number)));
  }
  return classes;
}

Classes by_file(const CalibrationOptions& options, const CalibrationData& data, const KnownClasses& known) {
  const std::vector<Line> lines = lines_of(options.sample_labels);
  const SamplesByName samples(data.names);
  const auto names_one = [&](const Line& line) { return named_sample(line.text, samples).has_value(); };
  if (std::none_of(lines.begin(), lines.end(), names_one)) return in_order(lines, options, data, known);
  Classes classes(data.samples.size());
  for (const Line& line : lines) {
    const auto named = named_sample(line.text, samples);
    const std::string place = fmt::format("--sample-labels {}: line {}", options.sample_labels, line.number);
    if (!named && line.text.find_first_of(kSeparators) == std::string::npos) {
      refuse_label(place, fmt::format("'{}' found, a path and a class needed", line.text));
    }
    if (!named) continue;  // names a picture that isn't used
    const size_t wanted = class_of(named->second, known, place);
    if (classes[named->first].value_or(wanted) != wanted) {
      refuse_label(place, fmt::format("{} has another class in a line before", data.names[named->first].name));
    }
    classes[named->first] = wanted;
  }
  return classes;
}

Classes by_column(const CalibrationOptions& options, const CalibrationData& data, const KnownClasses& known) {
  Classes classes;
  for (const SampleName& name : data.names) {
    const std::string place = fmt::format("--calibrate {}: {}", options.source, name.name);
    classes.push_back(name.label.empty() ? std::nullopt : std::optional(class_of(trimmed(name.label), known, place)));
  }
  return classes;
}

// Returns the first folder on the way to a picture; empty for a picture beside the folders.
std::string folder_of(const std::string& name) {
  const fs::path path(name);
  return path.has_parent_path() ? path.begin()->string() : "";
}

// Numbers the folders in their sorted order. Takes none where numbers as names sort in another order than as numbers:
// either could be meant.
SampleClasses by_sorted_folders(const std::vector<std::string>& folders, const CalibrationData& data, size_t count) {
  const bool are_numbers =
      std::all_of(folders.begin(), folders.end(), [](const std::string& name) { return number_of(name).has_value(); });
  const bool are_in_order = std::is_sorted(folders.begin(), folders.end(), [](const auto& one, const auto& other) {
    return number_of(one).value_or(0) < number_of(other).value_or(0);
  });
  if (are_numbers && !are_in_order) {
    return {{},
            fmt::format("no accuracy: the {} folders have numbers as names, and as numbers another order than as "
                        "names: give --sample-labels, or --labels with the folders' names in the order of the classes",
                        count)};
  }
  SampleClasses result;
  for (const SampleName& name : data.names) result.classes.push_back(place_among(folder_of(name.name), folders));
  result.source = fmt::format("classes by the folders' names in sorted order: {} is 0, {} is {}", folders.front(),
                              folders.back(), folders.size() - 1);
  return result;
}

SampleClasses by_named_folders(const std::vector<std::string>& folders, const CalibrationData& data,
                               const KnownClasses& known) {
  std::vector<std::string> others;
  for (const std::string& folder : folders) {
    if (!place_among(folder, known.names)) others.push_back(folder);
  }
  if (others.size() == folders.size()) {
    return {{},
            fmt::format("no accuracy: no folder has the name of a class of --labels, as '{}': rename the folders, or "
                        "give --sample-labels",
                        known.names.front())};
  }
  SampleClasses result;
  for (const SampleName& name : data.names) result.classes.push_back(place_among(folder_of(name.name), known.names));
  result.source = "classes by the folders' names, as --labels has them";
  if (others.empty()) return result;
  result.source += fmt::format("; {} {} no class there, the first is '{}'", counted(others.size(), "folder"),
                               others.size() == 1 ? "is" : "are", others.front());
  return result;
}

SampleClasses by_folders(const CalibrationOptions& options, const CalibrationData& data, const KnownClasses& known) {
  std::set<std::string> names;
  for (const calibration::ListedPicture& picture : data.pictures) names.insert(folder_of(picture.name));
  names.erase("");
  const std::vector<std::string> folders(names.begin(), names.end());
  if (folders.size() < 2 || !fs::is_directory(options.source)) return {};
  if (!known.names.empty()) return by_named_folders(folders, data, known);
  if (known.count == folders.size()) return by_sorted_folders(folders, data, folders.size());
  if (!known.count) return {};
  return {{},
          fmt::format("no accuracy: the pictures lie in {} folders, and the model has {} classes: give --labels with "
                      "the folders' names in the order of the classes, or --sample-labels",
                      folders.size(), *known.count)};
}

}  // namespace

bool has_given_classes(const CalibrationOptions& options, const CalibrationData& data) {
  const auto has_label = [](const SampleName& name) { return !name.label.empty(); };
  return !options.sample_labels.empty() || std::any_of(data.names.begin(), data.names.end(), has_label);
}

SampleClasses classes_of(const CalibrationOptions& options, const CalibrationData& data, const KnownClasses& known) {
  SampleClasses result;
  if (!options.sample_labels.empty()) {
    result.classes = by_file(options, data, known);
    result.source = "classes by --sample-labels";
  } else if (has_given_classes(options, data)) {
    result.classes = by_column(options, data, known);
    result.source = "classes by the list";
  } else {
    result = by_folders(options, data, known);
  }
  if (result.classes.empty()) return result;
  const auto without = std::count(result.classes.begin(), result.classes.end(), std::nullopt);
  if (without > 0) result.source += fmt::format("; {} of {} samples have none", without, result.classes.size());
  return result;
}

}  // namespace nnapi_convert
