// SPDX-License-Identifier: BSD-3-Clause
// Computes boxes for the detection operations. A tensor of boxes is Float and has [x1, y1, x2, y2] in its last
// dimension; quantised boxes are multiples of 1/8.
#pragma once

#include <functional>
#include <vector>

#include "lib/host_runtime/kernel.h"

namespace nnapi_convert::host {

constexpr int64_t kBoxLength = 4;

// Checks for rules. An extent of kUnknown stands for any extent.
void require_dims(const OpContext& context, const char* argument, const Dims& needed);
void require_box_quantization(const OpContext& context, const char* argument);
void require_positive(const OpContext& context, const char* argument);

// Returns an argument's numbers as a contiguous Float tensor.
at::Tensor floats(const OpContext& context, const char* argument);
// Refuses boxes of [n, 4] whose sides are in the wrong order.
void require_ordered(const OpContext& context, const char* argument, const at::Tensor& boxes);

// Moves and scales boxes [n, 4] by deltas [n, classes, 4] of [dx, dy, dw, dh], and clips them to images [n or 1, 2] of
// [height, width]. The result is [n, classes, 4].
at::Tensor transformed_boxes(const at::Tensor& boxes, const at::Tensor& deltas, const at::Tensor& images);

struct Box {
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};
Box box_at(const at::Tensor& boxes, int64_t index);  // `boxes` is contiguous
at::Tensor tensor_of(const std::vector<Box>& boxes);
float intersection_over_union(const Box& a, const Box& b);

// Non-maximum suppression.
struct Candidate {
  Box box;
  float score = 0;
  int64_t index = 0;  // the caller's number of the candidate
};
// Orders candidates by falling score; candidates whose score is NaN come last.
bool scores_higher(const Candidate& a, const Candidate& b);
void sort_by_score(std::vector<Candidate>& candidates);

// Takes the best candidate, one after the other, until none is left or `limit` are taken (a negative limit: all). After
// each, `survives` decides whether each remaining candidate stays, by its overlap with the taken candidate; it may
// lower the remaining candidate's score.
using Survival = std::function<bool(Candidate&, float overlap)>;
std::vector<Candidate> suppress(std::vector<Candidate> candidates, int64_t limit, const Survival& survives);
// A candidate stays while its overlap is below the threshold.
Survival hard_survival(double threshold);

}  // namespace nnapi_convert::host
