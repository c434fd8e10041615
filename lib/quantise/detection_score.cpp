// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/detection_score.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/file_bytes.h"
#include "lib/base/json_problem.h"
#include "lib/converter/samples/prepared_picture.h"
#include "lib/converter/samples/samples_by_name.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

constexpr int64_t kCorners = 4, kRow = 6;
constexpr int64_t kNoCategory = -1;

[[noreturn]] void refuse_boxes(const std::string& path, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("--sample-boxes {}: {}", path, problem));
}

quantise::Box box_of(const json& bbox) {
  const double left = bbox.at(0), top = bbox.at(1), width = bbox.at(2), height = bbox.at(3);
  return {left, top, left + width, top + height};
}

std::vector<int64_t> categories_by_label(const json& categories, const std::vector<std::string>& class_names) {
  std::map<std::string, int64_t> ids;
  for (const json& category : categories) ids[category.at("name")] = category.at("id");
  std::vector<int64_t> result;
  for (const std::string& name : class_names) {
    const auto found = ids.find(name);
    result.push_back(found == ids.end() ? kNoCategory : found->second);
  }
  return result;
}

struct Detections {
  at::Tensor boxes, scores, labels;  // [N, 4], [N], [N]
};

bool is_named(const NamedResult& result, const std::string& name) {
  const size_t dot = result.name.rfind('.');
  return (dot == std::string::npos ? result.name : result.name.substr(dot + 1)) == name;
}

std::optional<Detections> by_names(const ForwardResult& result) {
  Detections found;
  for (const NamedResult& each : result) {
    at::Tensor* const place = is_named(each, "boxes")    ? &found.boxes
                              : is_named(each, "scores") ? &found.scores
                              : is_named(each, "labels") ? &found.labels
                                                         : nullptr;
    if (place != nullptr && !place->defined()) *place = each.tensor;
  }
  const bool has_all = found.boxes.defined() && found.scores.defined() && found.labels.defined();
  return has_all ? std::optional(found) : std::nullopt;
}

// Returns the tensor without an axis for the batch.
at::Tensor of_one(const at::Tensor& tensor, int64_t rank) {
  return tensor.dim() == rank + 1 && tensor.size(0) == 1 ? tensor.squeeze(0) : tensor;
}

std::optional<Detections> by_sizes(const ForwardResult& result) {
  if (result.size() == 1) {
    const at::Tensor rows = of_one(result[0].tensor, 2);
    if (rows.dim() != 2 || rows.size(1) != kRow) return std::nullopt;
    return Detections{rows.slice(1, 0, kCorners), rows.select(1, kCorners), rows.select(1, kCorners + 1)};
  }
  if (result.size() != 3) return std::nullopt;
  Detections found;
  for (const NamedResult& each : result) {
    const at::Tensor boxes = of_one(each.tensor, 2);
    if (boxes.dim() == 2 && boxes.size(1) == kCorners && each.tensor.is_floating_point()) {
      found.boxes = boxes;
    } else {
      (each.tensor.is_floating_point() ? found.scores : found.labels) = of_one(each.tensor, 1);
    }
  }
  const bool has_all = found.boxes.defined() && found.scores.defined() && found.labels.defined();
  return has_all ? std::optional(found) : std::nullopt;
}

std::string sizes_text(const ForwardResult& result) {
  std::string text;
  for (const NamedResult& each : result) {
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", each.name, fmt::join(each.tensor.sizes(), ", "));
  }
  return text.empty() ? "no tensor" : text;
}

Detections detections_of(const ForwardResult& result) {
  std::optional<Detections> found = by_names(result);
  if (!found) found = by_sizes(result);
  const bool fits = found && found->boxes.dim() == 2 && found->boxes.size(1) == kCorners && found->scores.dim() == 1 &&
                    found->labels.dim() == 1 && found->scores.size(0) == found->boxes.size(0) &&
                    found->labels.size(0) == found->boxes.size(0);
  if (!fits) {
    throw ConvertError(
        ExitCode::kUsage,
        fmt::format("--sample-boxes: the model's results are no detections: {} found; needed are boxes [N, 4], scores "
                    "[N] and labels [N], by these names or, with labels of integers, as three tensors, or one tensor "
                    "[N, 6] of left, top, right, bottom, score, label",
                    sizes_text(result)));
  }
  found->boxes = found->boxes.to(at::kDouble).contiguous();
  found->scores = found->scores.to(at::kDouble).contiguous();
  found->labels = found->labels.to(at::kDouble).round().to(at::kLong).contiguous();
  return *found;
}

}  // namespace

DetectionScore::DetectionScore(const CalibrationOptions& calibration, const std::vector<SampleName>& names,
                               const CalibrationSamples& inputs, const std::vector<std::string>& class_names) {
  const std::string& path = calibration.sample_boxes;
  scenes_.resize(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].path.empty()) {
      throw ConvertError(ExitCode::kUsage, "--sample-boxes: it is for pictures, by the names of their files");
    }
    const at::Tensor& input = inputs[i].front();
    const bool is_bytes = input.scalar_type() == at::kByte;
    const auto size = [&](int64_t axis) { return static_cast<uint32_t>(input.size(is_bytes ? axis - 1 : axis)); };
    pictures::Placement place;
    pictures::place(names[i].width, names[i].height, preparation_of(calibration.pictures), size(3), size(2), &place);
    scenes_[i] = {false, static_cast<double>(place.left), static_cast<double>(place.top),
                  static_cast<double>(place.from_width) / static_cast<double>(place.resized_width),
                  static_cast<double>(place.from_height) / static_cast<double>(place.resized_height)};
  }
  const SamplesByName samples(names);
  const std::vector<uint8_t> text = calibration::file_bytes(path);
  try {
    const json file = json::parse(text.begin(), text.end());
    std::map<int64_t, size_t> pictures;
    for (const json& image : file.at("images")) {
      const auto sample = samples.find(image.at("file_name"));
      if (!sample) continue;
      scenes_[*sample].is_drawn = true;
      pictures[image.at("id")] = *sample;
    }
    for (const json& annotation : file.at("annotations")) {
      const auto picture = pictures.find(annotation.at("image_id").get<int64_t>());
      if (picture == pictures.end()) continue;
      boxes_.push_back({picture->second, annotation.at("category_id"), box_of(annotation.at("bbox")),
                        annotation.value("iscrowd", 0) != 0});
    }
    if (!class_names.empty()) categories_ = categories_by_label(file.at("categories"), class_names);
  } catch (const json::exception& error) {
    refuse_boxes(path, fmt::format("no boxes in COCO's JSON: {}", json_problem(error)));
  }
  const auto is_thing = [](const quantise::DrawnBox& box) { return !box.is_crowd; };
  if (std::none_of(boxes_.begin(), boxes_.end(), is_thing)) {
    refuse_boxes(path, fmt::format("no box of a picture that judges, such as {}: file_name has to be its path as "
                                   "--calibrate has it, or its file's name",
                                   names.empty() ? "" : names.front().name));
  }
}

double DetectionScore::of(const std::vector<ForwardResult>& results) const {
  std::vector<quantise::Detection> detections;
  for (size_t picture = 0; picture < results.size(); ++picture) {
    const Detections found = detections_of(results[picture]);
    const Scene& scene = scenes_.at(picture);
    if (!scene.is_drawn) continue;
    const double* box = found.boxes.data_ptr<double>();
    for (int64_t i = 0; i < found.boxes.size(0); ++i, box += kCorners) {
      int64_t label = found.labels.data_ptr<int64_t>()[i];
      if (!categories_.empty()) {
        const bool has_name = label >= 0 && label < static_cast<int64_t>(categories_.size());
        label = has_name ? categories_[static_cast<size_t>(label)] : kNoCategory;
      }
      detections.push_back({picture,
                            label,
                            found.scores.data_ptr<double>()[i],
                            {(box[0] + scene.left) * scene.across, (box[1] + scene.top) * scene.down,
                             (box[2] + scene.left) * scene.across, (box[3] + scene.top) * scene.down}});
    }
  }
  return quantise::mean_average_precision(detections, boxes_);
}

}  // namespace nnapi_convert
