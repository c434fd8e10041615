// SPDX-License-Identifier: BSD-3-Clause
// torchvision's operators of detectors.
#include <algorithm>
#include <cmath>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"
#include "lib/program/ordering.h"

namespace nnapi_shim::program {

namespace {

// Returns a row-major copy in float32.
Value real_copy(Call& call, const Tensor& tensor) {
  return Value(row_major_copy(call.context.pool, tensor, ScalarType::kFloat32));
}

bool is_single(const Tensor& tensor) {
  return tensor.dtype == ScalarType::kFloat32 || tensor.dtype == ScalarType::kFloat16;
}

// Boxes in the order of their scores. Each coordinate has an array of its own, so that processors compare several boxes
// at once.
struct Boxes {
  const float *left, *top, *right, *bottom, *areas;
};
constexpr int64_t kBoxRows = 5;

// Writes the areas that the boxes from `begin` to `end` have in common with box `i`. Returns whether any is above 0.
bool find_common(const Boxes& boxes, int64_t i, int64_t begin, int64_t end, float* common) {
  const float left = boxes.left[i], top = boxes.top[i], right = boxes.right[i], bottom = boxes.bottom[i];
  uint32_t any = 0;
  for (int64_t k = begin; k < end; ++k) {
    const float width = std::max(0.0F, std::min(right, boxes.right[k]) - std::max(left, boxes.left[k]));
    const float height = std::max(0.0F, std::min(bottom, boxes.bottom[k]) - std::max(top, boxes.top[k]));
    common[k - begin] = width * height;
    any |= common[k - begin] != 0 ? 1 : 0;
  }
  return any != 0;
}

// Suppresses boxes that overlap with better ones. Keeps the numbers of the others at the beginning of `order`, and
// returns how many there are.
int64_t suppress(int64_t count, const Boxes& boxes, int64_t* order, uint8_t* is_suppressed, double threshold) {
  constexpr int64_t kChunkOfBoxes = 128;
  float common[kChunkOfBoxes];
  std::fill(is_suppressed, is_suppressed + count, 0);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (is_suppressed[i] != 0) continue;
    order[kept++] = order[i];
    for (int64_t begin = i + 1; begin < count; begin += kChunkOfBoxes) {
      const int64_t end = std::min(count, begin + kChunkOfBoxes);
      if (!find_common(boxes, i, begin, end, common) && threshold >= 0) continue;
      for (int64_t k = begin; k < end; ++k) {
        const float part = common[k - begin], overlap = part / (boxes.areas[i] + boxes.areas[k] - part);
        if (static_cast<double>(overlap) > threshold) is_suppressed[k] = 1;
      }
    }
  }
  return kept;
}

bool nms(Call& call) {
  Tensor *dets, *scores;
  double threshold;
  if (!tensor_at(call, 0, &dets) || !tensor_at(call, 1, &scores) || !number_at(call, 2, &threshold)) return false;
  if (dets->rank != 2 || dets->sizes[1] != 4 || scores->rank != 1 || scores->sizes[0] != dets->sizes[0]) {
    return call.context.fail("nms() needs boxes [N, 4] and scores [N]");
  }
  if (!is_single(*dets) || dets->dtype != scores->dtype) {
    return call.context.fail("nms() needs boxes and scores of float32 or float16");
  }
  const int64_t count = dets->sizes[0];
  const Value boxes = real_copy(call, *dets), values = real_copy(call, *scores);
  if (boxes.is_none() || values.is_none()) return call.context.fail_memory();
  const int64_t sizes[2] = {kBoxRows, count};
  const Value sorted(make_tensor(call.context.pool, ScalarType::kFloat32, 2, sizes));
  const Value order(make_tensor(call.context.pool, ScalarType::kInt64, 1, &count));
  OrderEntry* entries = nullptr;
  const Value memory(make_entries(call, count, &entries));
  const Value marks(make_tensor(call.context.pool, ScalarType::kUInt8, 1, &count));
  if (sorted.is_none() || order.is_none() || memory.is_none() || marks.is_none()) return call.context.fail_memory();
  auto* numbers = order.tensor().data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    entries[i] = {~order_key(static_cast<double>(values.tensor().data<float>()[i])), i};
  }
  order_entries(entries, count);
  for (int64_t i = 0; i < count; ++i) numbers[i] = entries[i].number;
  auto* rows = sorted.tensor().data<float>();
  const Boxes in_order = {rows, rows + count, rows + 2 * count, rows + 3 * count, rows + 4 * count};
  for (int64_t i = 0; i < count; ++i) {
    const float* box = boxes.tensor().data<float>() + 4 * numbers[i];
    for (int64_t row = 0; row < 4; ++row) rows[row * count + i] = box[row];
    rows[4 * count + i] = (box[2] - box[0]) * (box[3] - box[1]);
  }
  const int64_t kept = suppress(count, in_order, numbers, marks.tensor().data<uint8_t>(), threshold);
  Tensor* result = make_tensor(call.context.pool, ScalarType::kInt64, 1, &kept);
  if (!give(call, 0, result)) return false;
  std::copy(numbers, numbers + kept, result->data<int64_t>());
  return true;
}

struct RoiAlign {
  int64_t height, width, channels, pooled_height, pooled_width, sampling_ratio;
  double scale;
  bool aligned;
};

// A point between four elements of an image: their places and weights.
struct Corners {
  int64_t places[4];
  float weights[4];
};

bool corners_of(float y, float x, int64_t height, int64_t width, Corners* corners) {
  if (!(y >= -1 && y <= static_cast<float>(height) && x >= -1 && x <= static_cast<float>(width))) return false;
  y = std::max(y, 0.0F);
  x = std::max(x, 0.0F);
  int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x), bottom = top + 1, right = left + 1;
  if (top >= height - 1) {
    top = bottom = height - 1;
    y = static_cast<float>(top);
  }
  if (left >= width - 1) {
    left = right = width - 1;
    x = static_cast<float>(left);
  }
  const float down = y - static_cast<float>(top), over = x - static_cast<float>(left), up = 1 - down, back = 1 - over;
  *corners = {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
              {up * back, up * over, down * back, down * over}};
  return true;
}

// Aligns one region. Images are NHWC, the result is [channels, height, width].
bool align_region(Call& call, const RoiAlign& roi, const float* image, const float* region, float* sums,
                  float* result) {
  const auto scale = static_cast<float>(roi.scale), offset = static_cast<float>(roi.aligned ? 0.5 : 0);
  const float left = region[1] * scale - offset, top = region[2] * scale - offset;
  float width = region[3] * scale - offset - left, height = region[4] * scale - offset - top;
  if (!roi.aligned) {
    width = std::max(width, 1.0F);
    height = std::max(height, 1.0F);
  }
  const float bin_height = height / static_cast<float>(roi.pooled_height),
              bin_width = width / static_cast<float>(roi.pooled_width);
  constexpr float kMost = 1 << 20;
  if (!(std::fabs(bin_height) < kMost) || !(std::fabs(bin_width) < kMost)) {
    return call.context.fail("roi_align() of a region of %g x %g", static_cast<double>(width),
                             static_cast<double>(height));
  }
  const int64_t rows = roi.sampling_ratio > 0 ? roi.sampling_ratio : static_cast<int64_t>(std::ceil(bin_height));
  const int64_t columns = roi.sampling_ratio > 0 ? roi.sampling_ratio : static_cast<int64_t>(std::ceil(bin_width));
  constexpr int64_t kMostPoints = 1 << 24;
  if (std::max<int64_t>(rows, 0) * std::max<int64_t>(columns, 0) > kMostPoints) {
    return call.context.fail("roi_align() of %lld x %lld points for each element", static_cast<long long>(rows),
                             static_cast<long long>(columns));
  }
  const float count =
      static_cast<float>(std::max<int64_t>(std::max<int64_t>(rows, 0) * std::max<int64_t>(columns, 0), 1));
  const int64_t pooled = roi.pooled_height * roi.pooled_width;
  for (int64_t i = 0; i < pooled; ++i) {
    const auto bin_y = static_cast<float>(i / roi.pooled_width), bin_x = static_cast<float>(i % roi.pooled_width);
    std::fill(sums, sums + roi.channels, 0.0F);
    for (int64_t row = 0; row < rows; ++row) {
      const float y =
          top + bin_y * bin_height + (static_cast<float>(row) + 0.5F) * bin_height / static_cast<float>(rows);
      for (int64_t column = 0; column < columns; ++column) {
        const float x =
            left + bin_x * bin_width + (static_cast<float>(column) + 0.5F) * bin_width / static_cast<float>(columns);
        Corners corners;
        if (!corners_of(y, x, roi.height, roi.width, &corners)) continue;
        const float *a = image + corners.places[0] * roi.channels, *b = image + corners.places[1] * roi.channels,
                    *c = image + corners.places[2] * roi.channels, *d = image + corners.places[3] * roi.channels;
        const float* weights = corners.weights;
        for (int64_t channel = 0; channel < roi.channels; ++channel) {
          sums[channel] +=
              weights[0] * a[channel] + weights[1] * b[channel] + weights[2] * c[channel] + weights[3] * d[channel];
        }
      }
    }
    for (int64_t channel = 0; channel < roi.channels; ++channel) result[channel * pooled + i] = sums[channel] / count;
  }
  return true;
}

bool align_regions(Call& call, const RoiAlign& roi, int64_t images, const Tensor& image, const Tensor& regions,
                   Tensor& result) {
  const Value sums(make_tensor(call.context.pool, ScalarType::kFloat32, 1, &roi.channels));
  if (sums.is_none()) return call.context.fail_memory();
  const int64_t each = roi.channels * roi.pooled_height * roi.pooled_width;
  for (int64_t i = 0; i < regions.sizes[0]; ++i) {
    const float* region = regions.data<float>() + 5 * i;
    if (!(region[0] > -1 && region[0] < static_cast<float>(images))) {
      return call.context.fail("roi_align() of image %g of %lld", static_cast<double>(region[0]),
                               static_cast<long long>(images));
    }
    const float* pixels = image.data<float>() + static_cast<int64_t>(region[0]) * roi.height * roi.width * roi.channels;
    if (!align_region(call, roi, pixels, region, sums.tensor().data<float>(), result.data<float>() + i * each))
      return false;
  }
  return true;
}

bool roi_align(Call& call) {
  Tensor *input, *rois;
  RoiAlign roi;
  if (!tensor_at(call, 0, &input) || !tensor_at(call, 1, &rois) || !number_at(call, 2, &roi.scale)) return false;
  if (!int_at(call, 3, &roi.pooled_height) || !int_at(call, 4, &roi.pooled_width)) return false;
  if (!int_at(call, 5, &roi.sampling_ratio) || !bool_at(call, 6, &roi.aligned)) return false;
  if (input->rank != 4 || rois->rank != 2 || rois->sizes[1] != 5 || input->dtype != rois->dtype) {
    return call.context.fail("roi_align() needs images of 4 axes and regions [K, 5] of the same dtype");
  }
  if (!is_single(*input)) return call.context.fail("roi_align() needs float32 or float16");
  constexpr int64_t kMostPooled = 1 << 16;
  if (roi.pooled_height < 0 || roi.pooled_width < 0 || roi.pooled_height > kMostPooled ||
      roi.pooled_width > kMostPooled || roi.sampling_ratio > kMostPooled) {
    return call.context.fail("roi_align() into %lld x %lld", static_cast<long long>(roi.pooled_height),
                             static_cast<long long>(roi.pooled_width));
  }
  roi.channels = input->sizes[1];
  roi.height = input->sizes[2];
  roi.width = input->sizes[3];
  Pool& pool = call.context.pool;
  const int64_t sizes[4] = {rois->sizes[0], roi.channels, roi.pooled_height, roi.pooled_width};
  if (input->numel() == 0) {
    Tensor* zeros = make_tensor(pool, input->dtype, 4, sizes);
    if (!give(call, 0, zeros)) return false;
    fill_elements(*zeros, int64_t{0});
    return rois->sizes[0] == 0 || call.context.fail("roi_align() of images without elements");
  }
  // Reads the image as NHWC, the order of NNAPI's outputs: a point's elements of all channels are side by side.
  Tensor nhwc = *input;
  constexpr uint32_t kOrder[4] = {0, 2, 3, 1};
  for (uint32_t i = 0; i < 4; ++i) {
    nhwc.sizes[i] = input->sizes[kOrder[i]];
    nhwc.strides[i] = input->strides[kOrder[i]];
  }
  const bool is_ready = nhwc.is_contiguous() && input->dtype != ScalarType::kFloat16;
  Value copy;
  if (!is_ready) {
    copy = real_copy(call, nhwc);
    if (copy.is_none()) return call.context.fail_memory();
  }
  const Value regions = real_copy(call, *rois);
  if (regions.is_none()) return call.context.fail_memory();
  Tensor* result = make_tensor(pool, regions.tensor().dtype, 4, sizes);
  if (!give(call, 0, result)) return false;
  const Tensor& image = is_ready ? nhwc : copy.tensor();
  const bool done = align_regions(call, roi, input->sizes[0], image, regions.tensor(), *result);
  if (!done || input->dtype != ScalarType::kFloat16) return done;
  return give(call, 0, converted_tensor(pool, *result, ScalarType::kFloat16));
}

constexpr OperatorRow kRows[] = {
    {"torchvision::nms", 3, 1, nms},
    {"torchvision::roi_align", 7, 1, roi_align},
};

}  // namespace

const OperatorTable detection_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
