// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/average_precision.h"

#include <algorithm>
#include <map>
#include <set>

namespace nnapi_convert::quantise {
namespace {

constexpr double kLeastOverlap = 0.5;
constexpr size_t kMostOfPicture = 100;
constexpr size_t kRecalls = 101;

double area(const Box& box) {
  return std::max(0.0, box.right - box.left) * std::max(0.0, box.bottom - box.top);
}

double intersection(const Box& one, const Box& other) {
  return area({std::max(one.left, other.left), std::max(one.top, other.top), std::min(one.right, other.right),
               std::min(one.bottom, other.bottom)});
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

enum class Verdict { kRight, kWrong, kIgnored };

struct Judged {
  double score = 0;
  bool is_right = false;
};

// The detections and boxes of one label in one picture.
struct Scene {
  std::vector<const Detection*> detections;
  std::vector<const DrawnBox*> boxes, crowds;
};

// Lets a detection take a box.
Verdict verdict_on(const Detection& detection, const Scene& scene, std::set<const DrawnBox*>& taken) {
  const DrawnBox* best = nullptr;
  double most = 0;
  for (const DrawnBox* each : scene.boxes) {
    if (taken.count(each) != 0) continue;
    const double both = intersection(detection.box, each->box);
    const double overlap = share(both, area(detection.box) + area(each->box) - both);
    if (overlap < kLeastOverlap || overlap < most) continue;
    most = overlap;
    best = each;
  }
  if (best != nullptr) {
    taken.insert(best);
    return Verdict::kRight;
  }
  const bool is_in_crowd = std::any_of(scene.crowds.begin(), scene.crowds.end(), [&](const DrawnBox* crowd) {
    return share(intersection(detection.box, crowd->box), area(detection.box)) >= kLeastOverlap;
  });
  return is_in_crowd ? Verdict::kIgnored : Verdict::kWrong;
}

void judge(Scene scene, std::vector<Judged>& judged) {
  std::stable_sort(scene.detections.begin(), scene.detections.end(),
                   [](const Detection* one, const Detection* other) { return one->score > other->score; });
  if (scene.detections.size() > kMostOfPicture) scene.detections.resize(kMostOfPicture);
  std::set<const DrawnBox*> taken;
  for (const Detection* detection : scene.detections) {
    const Verdict verdict = verdict_on(*detection, scene, taken);
    if (verdict != Verdict::kIgnored) judged.push_back({detection->score, verdict == Verdict::kRight});
  }
}

// Returns the average precision; `boxes` is the number of boxes to find.
double average_precision(std::vector<Judged> judged, size_t boxes) {
  std::stable_sort(judged.begin(), judged.end(),
                   [](const Judged& one, const Judged& other) { return one.score > other.score; });
  std::vector<double> precisions, recalls;
  size_t right = 0;
  for (size_t i = 0; i < judged.size(); ++i) {
    right += judged[i].is_right ? 1 : 0;
    precisions.push_back(static_cast<double>(right) / static_cast<double>(i + 1));
    recalls.push_back(static_cast<double>(right) / static_cast<double>(boxes));
  }
  for (size_t i = precisions.size(); i-- > 1;) precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
  double sum = 0;
  for (size_t i = 0; i < kRecalls; ++i) {
    const double recall = static_cast<double>(i) / (kRecalls - 1);
    const auto place = std::lower_bound(recalls.begin(), recalls.end(), recall);
    if (place != recalls.end()) sum += precisions[static_cast<size_t>(place - recalls.begin())];
  }
  return sum / kRecalls;
}

}  // namespace

double mean_average_precision(const std::vector<Detection>& detections, const std::vector<DrawnBox>& boxes) {
  std::map<int64_t, std::map<size_t, Scene>> by_label;
  std::map<int64_t, size_t> count;
  for (const DrawnBox& box : boxes) {
    Scene& scene = by_label[box.label][box.picture];
    (box.is_crowd ? scene.crowds : scene.boxes).push_back(&box);
    if (!box.is_crowd) ++count[box.label];
  }
  for (const Detection& detection : detections) {
    if (count.count(detection.label) != 0)
      by_label[detection.label][detection.picture].detections.push_back(&detection);
  }
  double sum = 0;
  for (const auto& [label, number] : count) {
    std::vector<Judged> judged;
    for (const auto& [picture, scene] : by_label[label]) judge(scene, judged);
    sum += average_precision(std::move(judged), number);
  }
  return count.empty() ? 0 : sum / static_cast<double>(count.size());
}

}  // namespace nnapi_convert::quantise
