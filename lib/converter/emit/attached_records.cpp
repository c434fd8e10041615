// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/attached_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/base/json_problem.h"
#include "lib/base/json_text.h"
#include "lib/converter/samples/prepared_picture.h"
#include "lib/format/attached_records.h"
#include "lib/format/json_nesting.h"
#include "lib/format/picture_record.h"
#include "lib/format/utf8.h"
#include "lib/shim/sha256.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

constexpr size_t kRankWithoutBatch = 3;

bool takes_bytes(const TensorType& type) {
  return type.dtype == at::kByte;
}

struct Sizes {
  int64_t channels = 0, height = 0, width = 0;  // 0: free
};

// Returns the sizes of a tensor of pictures; nothing for any other tensor.
std::optional<Sizes> sizes_of(const TensorType& type) {
  const size_t rank = type.rank();
  const bool has_batch = rank == kRankWithoutBatch + 1;
  if (rank != kRankWithoutBatch && !has_batch) return std::nullopt;
  if (has_batch && type.dims[0].fixed_value().value_or(1) != 1) return std::nullopt;
  const auto size = [&](size_t axis) { return type.dims[rank - kRankWithoutBatch + axis].fixed_value().value_or(0); };
  const bool is_last = takes_bytes(type);
  const Sizes sizes{size(is_last ? 2 : 0), size(is_last ? 0 : 1), size(is_last ? 1 : 2)};
  const bool has_colors = sizes.channels == 1 || sizes.channels == 3 || (is_last && sizes.channels == 4);
  return has_colors ? std::optional(sizes) : std::nullopt;
}

bool is_picture(const TensorType& type) {
  return (type.dtype == at::kFloat || type.is_quantized() || takes_bytes(type)) && sizes_of(type);
}

[[noreturn]] void fail(const std::string& problem) {
  throw ConvertError(ExitCode::kUsage, problem);
}

void check_count(const char* option, const std::vector<double>& values, int64_t channels) {
  if (values.size() <= 1 || static_cast<int64_t>(values.size()) == channels) return;
  fail(fmt::format("{}: {} numbers found, 1 or {} needed, one for each channel", option, values.size(), channels));
}

}  // namespace

std::optional<size_t> picture_input(const ModuleInterface& interface) {
  std::vector<size_t> bytes, others;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const TensorType& type = interface.inputs[i].type;
    if (is_picture(type)) (takes_bytes(type) ? bytes : others).push_back(i);
  }
  const std::vector<size_t>& pictures = bytes.empty() ? others : bytes;
  return pictures.size() == 1 ? std::optional(pictures[0]) : std::nullopt;
}

void check_pictures(const PictureChoice& pictures, const ModuleInterface& interface) {
  const std::optional<size_t> input = picture_input(interface);
  if (!input) {
    fail(
        "--mean, --std, --resize, --crop: they are for models with one input of pictures, float32[1, 3, H, W], "
        "[1, 1, H, W] or [3, H, W], and this model has none, or several; leave them out");
  }
  const TensorType& type = interface.inputs[*input].type;
  const Sizes sizes = *sizes_of(type);
  if (takes_bytes(type)) {
    if (!pictures.normalises()) return;
    fail(
        "--mean, --std, --pixel-max and --bgr: the model takes bytes and normalises them itself; they go with "
        "--input-pixels or a model that takes float32");
  }
  if (pictures.mean.empty() || pictures.std.empty()) {
    fail(
        "--mean and --std are missing, by which the model's pictures are normalised: give those of its training, for "
        "example --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225; a model that takes 0 to 1 needs --mean 0 --std 1, "
        "and one that takes 0 to 255 --pixel-max 255, too");
  }
  check_count("--mean", pictures.mean, sizes.channels);
  check_count("--std", pictures.std, sizes.channels);
  if (pictures.is_bgr && sizes.channels == 1) fail("--bgr: the model takes one channel, which has no order of colours");
  const bool fits =
      (sizes.height == 0 || sizes.height == pictures.crop) && (sizes.width == 0 || sizes.width == pictures.crop);
  if (pictures.crop == 0 || fits) return;
  fail(fmt::format("--crop {}: the model takes {} x {} pixels (width x height)", pictures.crop, sizes.width,
                   sizes.height));
}

std::string picture_record_of(const PictureChoice& choice, const ModuleInterface& interface) {
  const std::optional<size_t> input = picture_input(interface);
  if (!input) return "";
  const TensorType& type = interface.inputs[*input].type;
  const Sizes sizes = *sizes_of(type);
  const pictures::Preparation how = preparation_of(choice);
  picture_record::Record record;
  if (how.is_bgr) record.flags |= picture_record::kBgr;
  if (takes_bytes(type)) record.flags |= picture_record::kBytes;
  record.resize = how.resize;
  record.crop = how.crop;
  record.channels = static_cast<uint32_t>(sizes.channels);
  record.rank = static_cast<uint32_t>(type.rank());
  record.height = static_cast<uint32_t>(sizes.height);
  record.width = static_cast<uint32_t>(sizes.width);
  record.pixel_max = how.pixel_max;
  for (size_t channel = 0; channel < pictures::kChannels; ++channel) {
    record.mean[channel] = how.mean[channel];
    record.std[channel] = how.std[channel];
  }
  const std::string& path = interface.inputs[*input].name;
  return std::string(reinterpret_cast<const char*>(&record), sizeof record) +
         (path.size() <= picture_record::kMostPath ? path : "");
}

namespace {

[[noreturn]] void fail_labels(const std::string& path, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("--labels {}: {}", path, problem));
}

std::vector<std::string> labels_of_json(const std::string& text, const std::string& path) {
  try {
    return json::parse(text).get<std::vector<std::string>>();
  } catch (const json::exception& error) {
    fail_labels(path, fmt::format("it begins as JSON does, and is no list of strings: {}", json_problem(error)));
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

bool is_utf8(const std::string& text) {
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  for (const uint8_t* end = at + text.size(); at != end;) {
    const size_t bytes = sign_bytes(at, end);
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

std::string to_hex(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

}  // namespace

std::vector<std::string> read_labels(const std::string& path) {
  std::string problem;
  auto text = text_of_file(path, problem);
  if (!text) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
  constexpr const char* kByteOrderMark = "\xef\xbb\xbf";
  if (text->rfind(kByteOrderMark, 0) == 0) text->erase(0, 3);
  const bool is_json =
      text->find_first_not_of(" \t\r\n") != std::string::npos && (*text)[text->find_first_not_of(" \t\r\n")] == '[';
  if (is_json && is_nested_too_deep(*text)) fail_labels(path, "JSON that is nested too deep");
  const std::vector<std::string> labels = is_json ? labels_of_json(*text, path) : lines_of(*text);
  if (labels.empty()) fail_labels(path, "no names found; a line for each class needed, or a JSON list of strings");
  size_t bytes = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const bool is_line = labels[i].find_first_of(std::string("\n\0", 2)) == std::string::npos;
    if (!is_line || !is_utf8(labels[i])) {
      fail_labels(path, fmt::format("name {} holds a line break or a zero, or is no UTF-8", i));
    }
    bytes += labels[i].size() + 1;
  }
  if (bytes > kMostAttachedBytes) fail_labels(path, fmt::format("more than {} bytes", kMostAttachedBytes));
  return labels;
}

std::map<std::string, std::string> parse_notes(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> notes;
  size_t bytes = 0;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      fail(fmt::format("--note {}: write KEY=VALUE, for example --note author=me", text));
    }
    const bool is_plain =
        std::all_of(text.begin(), text.end(), [](unsigned char sign) { return sign >= ' ' && sign != 127; });
    if (!is_plain || !is_utf8(text)) fail(fmt::format("--note {}: one line of UTF-8 needed", text.substr(0, equals)));
    if (!notes.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      fail(fmt::format("--note {}: given twice", text.substr(0, equals)));
    }
    bytes += text.size();
  }
  if (bytes > kMostAttachedBytes / 2) fail("--note: the notes are too long");
  return notes;
}

std::string origin_record(const std::string& version, const std::vector<std::string>& options,
                          const std::string& original) {
  InputFile file(original);
  nnapi_shim::Sha256 hash;
  uint64_t bytes = 0;
  std::vector<char> part(size_t{1} << 18);
  while (const size_t count = file.problem().empty() ? file.read(part.data(), part.size()) : 0) {
    hash.add(part.data(), count);
    bytes += count;
  }
  if (!file.problem().empty()) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", original, file.problem()));
  }
  uint8_t digest[nnapi_shim::Sha256::kDigestBytes];
  hash.finish(digest);
  const json record = {{"program", "nnapi-convert"},
                       {"version", version},
                       {"options", options},
                       {"original", {{"bytes", bytes}, {"sha256", to_hex(digest, sizeof digest)}}}};
  return json_text(record);
}

std::vector<FolderFile> records_of(const AppNotes& notes) {
  std::vector<FolderFile> records;
  std::string labels;
  for (const std::string& label : notes.labels) labels += label + "\n";
  if (!labels.empty()) records.push_back({kLabelsRecord, labels});
  if (!notes.notes.empty()) records.push_back({kNotesRecord, json_text(json(notes.notes))});
  if (!notes.origin.empty()) records.push_back({kOriginRecord, notes.origin});
  for (const FolderFile& file : notes.extra_files) records.push_back({"extra/" + file.name, file.text});
  return records;
}

}  // namespace nnapi_convert
