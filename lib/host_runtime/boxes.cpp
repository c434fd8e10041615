// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/boxes.h"

#include <algorithm>
#include <cmath>

#include "lib/host_runtime/quantization_rules.h"

namespace nnapi_convert::host {
namespace {

constexpr float kBoxScale = 0.125f;

}  // namespace

void require_dims(const OpContext& context, const char* argument, const Dims& needed) {
  const Dims& found = context.dims(argument);
  bool agree = found.size() == needed.size();
  for (std::size_t i = 0; agree && i < needed.size(); ++i) agree = needed[i] == kUnknown || needed[i] == found[i];
  if (!agree) context.refuse(argument, "dimensions {} found, {} needed", to_string(found), to_string(needed));
}

void require_box_quantization(const OpContext& context, const char* argument) {
  const OperandCode type = context.type(argument);
  if (type != OperandCode::TENSOR_QUANT16_ASYMM && type != OperandCode::TENSOR_QUANT16_SYMM) return;
  require_quantization(context, argument, kBoxScale, 0);
}

void require_positive(const OpContext& context, const char* argument) {
  const double number = context.number(argument);
  if (number <= 0) context.refuse(argument, "{} found, more than 0 needed", number);
}

at::Tensor floats(const OpContext& context, const char* argument) {
  return context.real(argument).to(at::kFloat).contiguous();
}

void require_ordered(const OpContext& context, const char* argument, const at::Tensor& boxes) {
  for (int64_t i = 0; i < boxes.size(0); ++i) {
    const Box box = box_at(boxes, i);
    if (box.x1 <= box.x2 && box.y1 <= box.y2) continue;
    context.refuse(argument, "box {} is [{}, {}, {}, {}], x1 <= x2 and y1 <= y2 needed", i, box.x1, box.y1, box.x2,
                   box.y2);
  }
}

at::Tensor transformed_boxes(const at::Tensor& boxes, const at::Tensor& deltas, const at::Tensor& images) {
  const at::Tensor low = boxes.narrow(1, 0, 2).unsqueeze(1), high = boxes.narrow(1, 2, 2).unsqueeze(1);
  const at::Tensor size = high.sub(low);
  const at::Tensor center = low.add(high).div_(2).add(deltas.narrow(2, 0, 2).mul(size));
  const at::Tensor reach = deltas.narrow(2, 2, 2).exp().mul_(size).div_(2);
  const at::Tensor limit = images.flip(1).unsqueeze(1);
  const auto clipped = [&](const at::Tensor& corner) { return at::minimum(corner.clamp_min(0), limit); };
  return at::cat({clipped(center.sub(reach)), clipped(center.add(reach))}, 2);
}

Box box_at(const at::Tensor& boxes, int64_t index) {
  const float* box = boxes.data_ptr<float>() + index * kBoxLength;
  return {box[0], box[1], box[2], box[3]};
}

at::Tensor tensor_of(const std::vector<Box>& boxes) {
  at::Tensor result = at::empty({static_cast<int64_t>(boxes.size()), kBoxLength}, at::TensorOptions(at::kFloat));
  auto* to = result.data_ptr<float>();
  for (const Box& box : boxes) {
    for (const float side : {box.x1, box.y1, box.x2, box.y2}) *to++ = side;
  }
  return result;
}

float intersection_over_union(const Box& a, const Box& b) {
  const auto area = [](const Box& box) { return (box.x2 - box.x1) * (box.y2 - box.y1); };
  const float width = std::max(std::min(a.x2, b.x2) - std::max(a.x1, b.x1), 0.0f);
  const float height = std::max(std::min(a.y2, b.y2) - std::max(a.y1, b.y1), 0.0f);
  const float shared = width * height;
  return shared / (area(a) + area(b) - shared);
}

bool scores_higher(const Candidate& a, const Candidate& b) {
  if (std::isnan(b.score)) return !std::isnan(a.score);
  return a.score > b.score;
}

void sort_by_score(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), scores_higher);
}

std::vector<Candidate> suppress(std::vector<Candidate> candidates, int64_t limit, const Survival& survives) {
  std::vector<Candidate> taken;
  while (!candidates.empty() && (limit < 0 || static_cast<int64_t>(taken.size()) < limit)) {
    const auto best = std::min_element(candidates.begin(), candidates.end(), scores_higher);
    taken.push_back(*best);
    candidates.erase(best);
    const Box box = taken.back().box;
    const auto dropped = [&](Candidate& candidate) {
      return !survives(candidate, intersection_over_union(candidate.box, box));
    };
    // std::remove_if does not fit: its predicate must not change the candidates.
    std::size_t kept = 0;
    for (Candidate& candidate : candidates) {
      if (!dropped(candidate)) candidates[kept++] = candidate;
    }
    candidates.resize(kept);
  }
  return taken;
}

Survival hard_survival(double threshold) {
  return [threshold](const Candidate&, float overlap) { return !(overlap >= static_cast<float>(threshold)); };
}

}  // namespace nnapi_convert::host
