// torchvision's operators of detectors.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

#include "lib/program/arguments.h"

namespace nnapi_shim::program {

namespace {

// A row-major copy in float32, or float64 for float64.
Value real_copy(Call& call, const Tensor& tensor) {
  const ScalarType dtype = tensor.dtype == ScalarType::kFloat64 ? ScalarType::kFloat64 : ScalarType::kFloat32;
  Tensor* copy = make_tensor(call.context.pool, dtype, tensor.rank, tensor.sizes);
  if (copy != nullptr) copy_elements(tensor, *copy);
  return Value(copy);
}

// Boxes are [count, 4] in the order of their scores; returns how many numbers were kept in `order`.
template <typename T>
int64_t suppress(int64_t count, const T* boxes, int64_t* order, uint8_t* is_suppressed, double threshold) {
  std::fill(is_suppressed, is_suppressed + count, 0);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (is_suppressed[i] != 0) continue;
    const T* a = boxes + 4 * i;
    const T area = (a[2] - a[0]) * (a[3] - a[1]);
    order[kept++] = order[i];
    for (int64_t k = i + 1; k < count; ++k) {
      const T* b = boxes + 4 * k;
      const T width = std::max(T{0}, std::min(a[2], b[2]) - std::max(a[0], b[0]));
      const T height = std::max(T{0}, std::min(a[3], b[3]) - std::max(a[1], b[1]));
      const T common = width * height;
      if (common == 0 && threshold >= 0) continue;
      const T overlap = common / (area + (b[2] - b[0]) * (b[3] - b[1]) - common);
      if (static_cast<double>(overlap) > threshold) is_suppressed[k] = 1;
    }
  }
  return kept;
}

template <typename T>
void sorted_boxes(int64_t count, const T* boxes, const T* scores, int64_t* order, T* sorted) {
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order, order + count, [scores](int64_t a, int64_t b) {
    const T x = scores[a], y = scores[b];
    if (x != x || y != y) {
      if ((x != x) != (y != y)) return x != x;
    } else if (x != y) {
      return x > y;
    }
    return a < b;
  });
  for (int64_t i = 0; i < count; ++i) std::copy(boxes + 4 * order[i], boxes + 4 * order[i] + 4, sorted + 4 * i);
}

bool nms(Call& call) {
  Tensor *dets, *scores;
  double threshold;
  if (!tensor_at(call, 0, &dets) || !tensor_at(call, 1, &scores) || !number_at(call, 2, &threshold)) return false;
  if (dets->rank != 2 || dets->sizes[1] != 4 || scores->rank != 1 || scores->sizes[0] != dets->sizes[0]) {
    return call.context.fail("nms() needs boxes [N, 4] and scores [N]");
  }
  if (!is_floating(dets->dtype) || dets->dtype != scores->dtype) {
    return call.context.fail("nms() needs boxes and scores of the same floats");
  }
  const int64_t count = dets->sizes[0];
  const Value boxes = real_copy(call, *dets), values = real_copy(call, *scores);
  if (boxes.is_none() || values.is_none()) return call.context.fail_memory();
  const Value sorted(make_tensor(call.context.pool, boxes.tensor().dtype, 2, dets->sizes));
  const Value order(make_tensor(call.context.pool, ScalarType::kInt64, 1, &count));
  const Value marks(make_tensor(call.context.pool, ScalarType::kUInt8, 1, &count));
  if (sorted.is_none() || order.is_none() || marks.is_none()) return call.context.fail_memory();
  auto* numbers = order.tensor().data<int64_t>();
  auto* is_suppressed = marks.tensor().data<uint8_t>();
  int64_t kept;
  if (boxes.tensor().dtype == ScalarType::kFloat64) {
    auto* in_order = sorted.tensor().data<double>();
    sorted_boxes(count, boxes.tensor().data<double>(), values.tensor().data<double>(), numbers, in_order);
    kept = suppress(count, in_order, numbers, is_suppressed, threshold);
  } else {
    auto* in_order = sorted.tensor().data<float>();
    sorted_boxes(count, boxes.tensor().data<float>(), values.tensor().data<float>(), numbers, in_order);
    kept = suppress(count, in_order, numbers, is_suppressed, threshold);
  }
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
template <typename T>
struct Corners {
  int64_t places[4];
  T weights[4];
};

template <typename T>
bool corners_of(T y, T x, int64_t height, int64_t width, Corners<T>* corners) {
  if (!(y >= -1 && y <= static_cast<T>(height) && x >= -1 && x <= static_cast<T>(width))) return false;
  y = std::max(y, T{0});
  x = std::max(x, T{0});
  int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x), bottom = top + 1, right = left + 1;
  if (top >= height - 1) {
    top = bottom = height - 1;
    y = static_cast<T>(top);
  }
  if (left >= width - 1) {
    left = right = width - 1;
    x = static_cast<T>(left);
  }
  const T down = y - static_cast<T>(top), over = x - static_cast<T>(left), up = 1 - down, back = 1 - over;
  *corners = {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
              {up * back, up * over, down * back, down * over}};
  return true;
}

// One region: images are NHWC, the result is [channels, height, width].
template <typename T>
bool align_region(Call& call, const RoiAlign& roi, const T* image, const T* region, T* sums, T* result) {
  const auto scale = static_cast<T>(roi.scale), offset = static_cast<T>(roi.aligned ? 0.5 : 0);
  const T left = region[1] * scale - offset, top = region[2] * scale - offset;
  T width = region[3] * scale - offset - left, height = region[4] * scale - offset - top;
  if (!roi.aligned) {
    width = std::max(width, T{1});
    height = std::max(height, T{1});
  }
  const T bin_height = height / static_cast<T>(roi.pooled_height), bin_width = width / static_cast<T>(roi.pooled_width);
  constexpr T kMost = 1 << 20;
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
  const T count = static_cast<T>(std::max<int64_t>(std::max<int64_t>(rows, 0) * std::max<int64_t>(columns, 0), 1));
  const int64_t pooled = roi.pooled_height * roi.pooled_width;
  for (int64_t i = 0; i < pooled; ++i) {
    const auto bin_y = static_cast<T>(i / roi.pooled_width), bin_x = static_cast<T>(i % roi.pooled_width);
    std::fill(sums, sums + roi.channels, T{0});
    for (int64_t row = 0; row < rows; ++row) {
      const T y = top + bin_y * bin_height + (static_cast<T>(row) + T{0.5}) * bin_height / static_cast<T>(rows);
      for (int64_t column = 0; column < columns; ++column) {
        const T x = left + bin_x * bin_width + (static_cast<T>(column) + T{0.5}) * bin_width / static_cast<T>(columns);
        Corners<T> corners;
        if (!corners_of(y, x, roi.height, roi.width, &corners)) continue;
        const T *a = image + corners.places[0] * roi.channels, *b = image + corners.places[1] * roi.channels,
                *c = image + corners.places[2] * roi.channels, *d = image + corners.places[3] * roi.channels;
        const T* weights = corners.weights;
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

template <typename T>
bool align_regions(Call& call, const RoiAlign& roi, int64_t images, const Tensor& image, const Tensor& regions,
                   Tensor& result) {
  constexpr ScalarType kType = std::is_same_v<T, double> ? ScalarType::kFloat64 : ScalarType::kFloat32;
  const Value sums(make_tensor(call.context.pool, kType, 1, &roi.channels));
  if (sums.is_none()) return call.context.fail_memory();
  const int64_t each = roi.channels * roi.pooled_height * roi.pooled_width;
  for (int64_t i = 0; i < regions.sizes[0]; ++i) {
    const T* region = regions.data<T>() + 5 * i;
    if (!(region[0] > -1 && region[0] < static_cast<T>(images))) {
      return call.context.fail("roi_align() of image %g of %lld", static_cast<double>(region[0]),
                               static_cast<long long>(images));
    }
    const T* pixels = image.data<T>() + static_cast<int64_t>(region[0]) * roi.height * roi.width * roi.channels;
    if (!align_region(call, roi, pixels, region, sums.tensor().data<T>(), result.data<T>() + i * each)) return false;
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
  if (!need_floating(call, *input)) return false;
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
  // As NHWC, which outputs of NNAPI are, a point's elements of all channels are side by side.
  Tensor nhwc = *input;
  constexpr uint32_t kOrder[4] = {0, 2, 3, 1};
  for (uint32_t i = 0; i < 4; ++i) {
    nhwc.sizes[i] = input->sizes[kOrder[i]];
    nhwc.strides[i] = input->strides[kOrder[i]];
  }
  const bool is_double = input->dtype == ScalarType::kFloat64;
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
  const bool done = is_double ? align_regions<double>(call, roi, input->sizes[0], image, regions.tensor(), *result)
                              : align_regions<float>(call, roi, input->sizes[0], image, regions.tensor(), *result);
  if (!done || input->dtype != ScalarType::kFloat16) return done;
  return give(call, 0, converted_tensor(pool, *result, ScalarType::kFloat16));
}

constexpr OperatorRow kRows[] = {
    {"torchvision::nms", 3, 1, nms},
    {"torchvision::roi_align", 7, 1, roi_align},
};

}  // namespace

const OperatorTable detection_operators = {kRows, std::size(kRows)};

}  // namespace nnapi_shim::program
