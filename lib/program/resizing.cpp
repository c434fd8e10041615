// Operators that resize images, pad them, or read them between their elements.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "lib/program/arguments.h"

namespace nnapi_shim::program {

namespace {

enum class Filter { kNearest, kNearestExact, kLinear, kCubic };

// Rounds as computation with the dtype's numbers does.
struct Rounding {
  bool is_double;
  double operator()(double value) const { return is_double ? value : static_cast<double>(static_cast<float>(value)); }
};

// One axis: for each place of the result the elements that it is made of, and their weights.
struct Taps {
  int64_t in, out;
  int64_t count;           // for each place
  Value indices, weights;  // [out, count]: int64, and float64 or float32 as the elements
};

// Of Keys' cubic with a = -0.75, at a distance between -1 and 2 elements.
void cubic_weights(const Rounding& rounded, double t, double* weights) {
  constexpr double kA = -0.75;
  const auto near = [&rounded](double x) {
    return rounded(rounded(rounded(rounded(rounded((kA + 2) * x) - (kA + 3)) * x) * x) + 1);
  };
  const auto far = [&rounded](double x) {
    return rounded(rounded(rounded(rounded(rounded(rounded(rounded(kA * x) - 5 * kA) * x) + 8 * kA) * x)) - 4 * kA);
  };
  weights[0] = far(rounded(t + 1));
  weights[1] = near(t);
  weights[2] = near(rounded(1 - t));
  weights[3] = far(rounded(rounded(1 - t) + 1));
}

bool make_taps(Call& call, Filter filter, bool align_corners, double factor, bool is_double, Taps* taps) {
  taps->count = filter == Filter::kLinear ? 2 : (filter == Filter::kCubic ? 4 : 1);
  const int64_t sizes[2] = {taps->out, taps->count};
  Pool& pool = call.context.pool;
  taps->indices = Value(make_tensor(pool, ScalarType::kInt64, 2, sizes));
  taps->weights = Value(make_tensor(pool, is_double ? ScalarType::kFloat64 : ScalarType::kFloat32, 2, sizes));
  if (taps->indices.is_none() || taps->weights.is_none()) return call.context.fail_memory();
  const Rounding rounded = {is_double};
  const auto in = static_cast<double>(taps->in), out = static_cast<double>(taps->out);
  double scale = factor > 0 ? rounded(1 / factor) : rounded(in / out);
  const bool smooth = filter == Filter::kLinear || filter == Filter::kCubic;
  if (smooth && align_corners) scale = taps->out > 1 ? rounded((in - 1) / (out - 1)) : 0;
  auto* indices = taps->indices.tensor().data<int64_t>();
  for (int64_t i = 0; i < taps->out; ++i, indices += taps->count) {
    const auto place = static_cast<double>(i);
    double weights[4] = {1, 0, 0, 0}, source;
    if (!smooth) {
      source = rounded(rounded(filter == Filter::kNearestExact ? place + 0.5 : place) * scale);
    } else if (align_corners) {
      source = rounded(scale * place);
    } else {
      source = rounded(rounded(scale * rounded(place + 0.5)) - 0.5);
    }
    if (filter == Filter::kLinear) source = std::max(source, 0.0);
    if (!(source > -1e9 && source < 1e15)) source = 0;
    const auto first = static_cast<int64_t>(std::floor(source));
    const auto inside = [taps](int64_t index) { return std::min(std::max<int64_t>(index, 0), taps->in - 1); };
    if (filter == Filter::kCubic) {
      cubic_weights(rounded, rounded(source - static_cast<double>(first)), weights);
      for (int64_t k = 0; k < 4; ++k) indices[k] = inside(first - 1 + k);
    } else {
      indices[0] = inside(first);
      if (filter == Filter::kLinear) {
        indices[1] = inside(indices[0] + 1);
        weights[1] = std::min(std::max(rounded(source - static_cast<double>(indices[0])), 0.0), 1.0);
        weights[0] = rounded(1 - weights[1]);
      }
    }
    for (int64_t k = 0; k < taps->count; ++k) store_double(taps->weights.tensor(), i * taps->count + k, weights[k]);
  }
  return true;
}

// All images of `count`; kTaps is the number for each place, or 0 for any.
template <typename T, int kTaps>
void resample(int64_t count, const T* in, T* out, const Taps& rows, const Taps& columns) {
  const int64_t row_taps = kTaps != 0 ? kTaps : rows.count, column_taps = kTaps != 0 ? kTaps : columns.count;
  for (int64_t image = 0; image < count; ++image, in += rows.in * columns.in) {
    const auto* row_index = rows.indices.tensor().data<int64_t>();
    const auto* row_weight = rows.weights.tensor().data<T>();
    for (int64_t y = 0; y < rows.out; ++y, row_index += row_taps, row_weight += row_taps) {
      const auto* index = columns.indices.tensor().data<int64_t>();
      const auto* weight = columns.weights.tensor().data<T>();
      for (int64_t x = 0; x < columns.out; ++x, index += column_taps, weight += column_taps) {
        T sum = 0;
        for (int64_t j = 0; j < row_taps; ++j) {
          const T* row = in + row_index[j] * columns.in;
          if (kTaps == 1) {
            sum = row[index[0]];
            continue;
          }
          T row_sum = 0;
          for (int64_t k = 0; k < column_taps; ++k) row_sum += weight[k] * row[index[k]];
          sum += row_weight[j] * row_sum;
        }
        *out++ = sum;
      }
    }
  }
}

// Resizes the last one or two axes of [N, C, ...].
bool give_resized(Call& call, Tensor& input, uint32_t axes, const int64_t* sizes, Filter filter, bool align_corners,
                  const double* factors) {
  if (input.rank != axes + 2) return call.context.fail("the input has %u axes, needs %u", input.rank, axes + 2);
  Taps taps[2];  // rows and columns
  int64_t result_sizes[4];
  std::copy(input.sizes, input.sizes + 2, result_sizes);
  const bool is_single = input.dtype == ScalarType::kFloat32 || input.dtype == ScalarType::kFloat16;
  if (!is_floating(input.dtype) && (filter == Filter::kLinear || filter == Filter::kCubic)) {
    return call.context.fail("interpolation of %s needs floats", dtype_name(input.dtype));
  }
  for (uint32_t i = 0; i < axes; ++i) {
    result_sizes[2 + i] = sizes[i];
    if (sizes[i] <= 0 || input.sizes[2 + i] <= 0) return call.context.fail("an image has no elements");
  }
  const ScalarType work = is_single ? ScalarType::kFloat32 : ScalarType::kFloat64;
  Pool& pool = call.context.pool;
  Tensor* result = make_tensor(pool, work, axes + 2, result_sizes);
  if (!give(call, 0, result)) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    const bool is_there = axes == 2 || i == 1;
    const uint32_t axis = axes == 2 ? i : 0;
    taps[i].in = is_there ? input.sizes[2 + axis] : 1;
    taps[i].out = is_there ? sizes[axis] : 1;
    const Filter used = is_there ? filter : Filter::kNearest;
    if (!make_taps(call, used, align_corners, is_there ? factors[axis] : 1, !is_single, &taps[i])) return false;
  }
  Value source(converted_tensor(pool, input, work));
  if (!source.is_none()) source = Value(contiguous(pool, source.tensor()));
  if (source.is_none()) return call.context.fail_memory();
  const int64_t count = input.sizes[0] * input.sizes[1];
  if (!is_single) {
    resample<double, 0>(count, source.tensor().data<double>(), result->data<double>(), taps[0], taps[1]);
  } else {
    const auto* in = source.tensor().data<float>();
    auto* out = result->data<float>();
    if (taps[0].count == 2 && taps[1].count == 2) {
      resample<float, 2>(count, in, out, taps[0], taps[1]);
    } else if (taps[0].count == 1 && taps[1].count == 1) {
      resample<float, 1>(count, in, out, taps[0], taps[1]);
    } else {
      resample<float, 0>(count, in, out, taps[0], taps[1]);
    }
  }
  if (work == input.dtype) return true;
  return give(call, 0, converted_tensor(pool, *result, input.dtype));
}

// (input, size, align_corners, scales...); kAligns: the argument align_corners is there.
bool run_upsample(Call& call, Filter filter, uint32_t axes) {
  const bool kAligns = filter == Filter::kLinear || filter == Filter::kCubic;
  Tensor* input;
  int64_t sizes[2];
  uint32_t count;
  bool align_corners = false;
  double factors[2] = {0, 0};
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, axes, sizes, &count)) return false;
  if (count != axes) return call.context.fail("the size needs %u numbers", axes);
  if (kAligns && !bool_at(call, 2, &align_corners)) return false;
  for (uint32_t i = 0; i < axes; ++i) {
    if (!optional_number_at(call, (kAligns ? 3 : 2) + i, 0, &factors[i])) return false;
  }
  return give_resized(call, *input, axes, sizes, filter, align_corners, factors);
}
template <Filter kFilter, uint32_t kAxes>
bool upsample(Call& call) {
  return run_upsample(call, kFilter, kAxes);
}

// (input, size or None, align_corners, factors or None)
bool run_upsample_vec(Call& call, Filter filter, uint32_t axes) {
  const bool kAligns = filter == Filter::kLinear || filter == Filter::kCubic;
  Tensor* input;
  int64_t sizes[2];
  uint32_t count;
  bool align_corners = false;
  double factors[2] = {0, 0};
  if (!tensor_at(call, 0, &input)) return false;
  if (kAligns && !bool_at(call, 2, &align_corners)) return false;
  const uint32_t last = kAligns ? 3 : 2;
  if (input->rank != axes + 2) return call.context.fail("the input has %u axes, needs %u", input->rank, axes + 2);
  if (!call.input(last).is_none() && !numbers_at(call, last, axes, factors)) return false;
  if (!call.input(1).is_none()) {
    if (!ints_at(call, 1, axes, sizes, &count)) return false;
    if (count != axes) return call.context.fail("the size needs %u numbers", axes);
    factors[0] = factors[1] = 0;
  } else {
    for (uint32_t i = 0; i < axes; ++i) sizes[i] = int_of(static_cast<double>(input->sizes[2 + i]) * factors[i]);
  }
  return give_resized(call, *input, axes, sizes, filter, align_corners, factors);
}
template <Filter kFilter, uint32_t kAxes>
bool upsample_vec(Call& call) {
  return run_upsample_vec(call, kFilter, kAxes);
}

enum class Border { kZeros, kEdge, kReflected };

// A coordinate from -1 to 1 as a place in an axis.
double unnormalized(const Rounding& rounded, double x, int64_t size, bool align_corners) {
  const auto all = static_cast<double>(size);
  if (align_corners) return rounded(rounded(rounded(x + 1) / 2) * (all - 1));
  return rounded(rounded(rounded(rounded(x + 1) * all) - 1) / 2);
}

double reflected(const Rounding& rounded, double x, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return 0;
  const double low = static_cast<double>(twice_low) / 2, span = static_cast<double>(twice_high - twice_low) / 2;
  x = rounded(std::fabs(rounded(x - low)));
  const double extra = rounded(std::fmod(x, span)), flips = std::floor(rounded(x / span));
  return std::fmod(flips, 2) == 0 ? rounded(extra + low) : rounded(rounded(span - extra) + low);
}

double clipped(double x, int64_t size) {
  // NaN becomes 0.
  return x > 0 ? std::min(x, static_cast<double>(size - 1)) : 0;
}

double bordered(const Rounding& rounded, double x, int64_t size, Border border, bool align_corners) {
  if (border == Border::kEdge) return clipped(x, size);
  if (border == Border::kReflected) {
    const int64_t low = align_corners ? 0 : -1, high = align_corners ? 2 * (size - 1) : 2 * size - 1;
    return clipped(reflected(rounded, x, low, high), size);
  }
  return x;
}

bool grid_sampler(Call& call) {
  Tensor *input, *grid;
  int64_t mode, padding;
  bool align_corners;
  if (!tensor_at(call, 0, &input) || !tensor_at(call, 1, &grid)) return false;
  if (!int_at(call, 2, &mode) || !int_at(call, 3, &padding) || !bool_at(call, 4, &align_corners)) return false;
  if (input->rank != 4 || grid->rank != 4 || grid->sizes[3] != 2 || grid->sizes[0] != input->sizes[0]) {
    return call.context.fail("grid_sampler() needs an input [N, C, H, W] and a grid [N, H, W, 2]");
  }
  if (!need_floating(call, *input) || grid->dtype != input->dtype || mode < 0 || mode > 2 || padding < 0 ||
      padding > 2) {
    return call.context.fail("grid_sampler() with these dtypes or modes");
  }
  const int64_t height = input->sizes[2], width = input->sizes[3], channels = input->sizes[1];
  if (height <= 0 || width <= 0 || channels <= 0) return call.context.fail("an image has no elements");
  const auto border = static_cast<Border>(padding);
  const int64_t sizes[4] = {input->sizes[0], channels, grid->sizes[1], grid->sizes[2]};
  Pool& pool = call.context.pool;
  const bool is_double = input->dtype == ScalarType::kFloat64;
  const Rounding rounded = {is_double};
  Tensor* result = make_tensor(pool, is_double ? ScalarType::kFloat64 : ScalarType::kFloat32, 4, sizes);
  if (!give(call, 0, result)) return false;
  Value source(converted_tensor(pool, *input, result->dtype));
  if (!source.is_none()) source = Value(contiguous(pool, source.tensor()));
  if (source.is_none()) return call.context.fail_memory();
  const Tensor& image = source.tensor();
  const int64_t places = sizes[2] * sizes[3];
  Cursor cursor;
  cursor.start(*grid);
  for (int64_t i = 0; i < sizes[0] * places; ++i) {
    double at[2];  // x, y
    cursor.read(2, Compute::kDouble, at);
    const double x = unnormalized(rounded, at[0], width, align_corners);
    const double y = unnormalized(rounded, at[1], height, align_corners);
    int64_t rows[4], columns[4];
    double row_weights[4] = {1}, column_weights[4] = {1};
    const int64_t taps = mode == 0 ? 2 : (mode == 1 ? 1 : 4);
    const auto axis_taps = [&](double value, int64_t size, int64_t* indices, double* weights) {
      if (mode != 2) value = bordered(rounded, value, size, border, align_corners);
      if (!(value > -1e9 && value < 1e9)) value = -100;  // outside
      const double low = mode == 1 ? std::nearbyint(value) : std::floor(value);
      const auto first = static_cast<int64_t>(low);
      const double rest = rounded(value - low);
      for (int64_t k = 0; k < taps; ++k) {
        indices[k] = first + k - (mode == 2 ? 1 : 0);
        if (mode == 2 && border != Border::kZeros) {
          indices[k] =
              static_cast<int64_t>(bordered(rounded, static_cast<double>(indices[k]), size, border, align_corners));
        }
        if (indices[k] < 0 || indices[k] >= size) indices[k] = -1;
      }
      if (mode == 0) {
        weights[0] = rounded(low + 1 - value);
        weights[1] = rest;
      } else if (mode == 2) {
        cubic_weights(rounded, rest, weights);
      }
    };
    axis_taps(x, width, columns, column_weights);
    axis_taps(y, height, rows, row_weights);
    const int64_t number = i / places;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t base = (number * channels + channel) * height * width;
      double sum = 0;
      for (int64_t j = 0; j < taps; ++j) {
        double row_sum = 0;
        for (int64_t k = 0; k < taps; ++k) {
          if (rows[j] < 0 || columns[k] < 0) continue;
          const int64_t place = base + rows[j] * width + columns[k];
          const double value =
              is_double ? image.data<double>()[place] : static_cast<double>(image.data<float>()[place]);
          row_sum += mode == 0 ? rounded(row_weights[j] * column_weights[k]) * value : column_weights[k] * value;
        }
        sum += mode == 0 ? row_sum : row_weights[j] * row_sum;
      }
      const int64_t out = (number * channels + channel) * places + i % places;
      if (is_double) {
        result->data<double>()[out] = sum;
      } else {
        result->data<float>()[out] = static_cast<float>(sum);
      }
    }
  }
  if (input->dtype != ScalarType::kFloat16) return true;
  return give(call, 0, converted_tensor(pool, *result, ScalarType::kFloat16));
}

enum class Pad { kConstant, kReflect, kReplicate, kCircular };

// `pads`: of the last axis before and behind, then of the one before it, and so on.
bool give_padded(Call& call, const Tensor& input, uint32_t count, const int64_t* pads, Pad mode, const Value& value) {
  if (count % 2 != 0 || count / 2 > input.rank) {
    return call.context.fail("%u pads for %u axes", count, input.rank);
  }
  int64_t sizes[kMostAxes], before[kMostAxes] = {};
  for (uint32_t i = 0; i < input.rank; ++i) {
    const uint32_t pair = input.rank - 1 - i;
    sizes[i] = input.sizes[i];
    if (2 * pair >= count) continue;
    constexpr int64_t kMost = int64_t{1} << 48;
    before[i] = pads[2 * pair];
    const int64_t behind = pads[2 * pair + 1], size = input.sizes[i];
    if (before[i] > kMost || behind > kMost || before[i] < -kMost || behind < -kMost || size > kMost) {
      return call.context.fail_memory();
    }
    sizes[i] += before[i] + behind;
    const int64_t most = std::max(before[i], behind);
    if (sizes[i] < 0 || (mode == Pad::kReflect && most > 0 && most >= size) ||
        (mode == Pad::kCircular && most > size) || (mode == Pad::kReplicate && size == 0 && sizes[i] > 0)) {
      return call.context.fail("pads of %lld and %lld don't fit to the size %lld", static_cast<long long>(before[i]),
                               static_cast<long long>(behind), static_cast<long long>(size));
    }
  }
  Tensor* result = make_tensor(call.context.pool, input.dtype, input.rank, sizes);
  if (!give(call, 0, result)) return false;
  if (mode == Pad::kConstant) {
    if (value.tag() == Tag::kFloat) {
      fill_elements(*result, value.as_float());
    } else {
      fill_elements(*result, value.as_int());
    }
  }
  // The part that is the input's own.
  Tensor inside = input, place = *result;
  bool is_empty = false;
  for (uint32_t i = 0; i < input.rank; ++i) {
    const int64_t skipped = std::max<int64_t>(-before[i], 0), first = std::max<int64_t>(before[i], 0);
    const int64_t length = std::min(input.sizes[i] - skipped, sizes[i] - first);
    is_empty = is_empty || length <= 0;
    if (length <= 0) break;
    inside.sizes[i] = place.sizes[i] = length;
    inside.offset += skipped * input.strides[i];
    place.offset += first * result->strides[i];
  }
  if (!is_empty) copy_elements(inside, place);
  if (mode == Pad::kConstant || result->numel() == 0) return true;
  if (is_empty) return call.context.fail("the pads leave nothing of the input");
  // Each axis, the last one first, is filled from what is there: other axes have their own part only.
  for (uint32_t axis = input.rank; axis-- > 0;) {
    const int64_t first = std::max<int64_t>(before[axis], 0), length = place.sizes[axis];
    for (int64_t i = 0; i < sizes[axis]; ++i) {
      if (i >= first && i < first + length) continue;
      int64_t from = i - before[axis];  // in the input
      const int64_t size = input.sizes[axis];
      if (mode == Pad::kReflect) {
        from = from < 0 ? -from : (from >= size ? 2 * (size - 1) - from : from);
      } else if (mode == Pad::kReplicate) {
        from = std::min(std::max<int64_t>(from, 0), size - 1);
      } else {
        from = from < 0 ? from + size : (from >= size ? from - size : from);
      }
      from += before[axis];  // in the result
      if (from < first || from >= first + length) return call.context.fail("pads below 0 with others in one axis");
      Tensor source = place, target = place;
      source.sizes[axis] = target.sizes[axis] = 1;
      source.offset += (from - first) * result->strides[axis];
      target.offset += (i - first) * result->strides[axis];
      copy_elements(source, target);
    }
    place.offset -= first * result->strides[axis];
    place.sizes[axis] = sizes[axis];
  }
  return true;
}

bool constant_pad(Call& call) {
  Tensor* input;
  int64_t pads[2 * kMostAxes];
  uint32_t count;
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, 2 * kMostAxes, pads, &count)) return false;
  if (!is_number(call.input(2))) return call.context.fail("the value needs a number");
  return give_padded(call, *input, count, pads, Pad::kConstant, call.input(2));
}

bool pad(Call& call) {
  Tensor* input;
  int64_t pads[2 * kMostAxes];
  uint32_t count;
  const char* name;
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, 2 * kMostAxes, pads, &count)) return false;
  if (!optional_text_at(call, 2, &name) || name == nullptr) return call.context.fail("the mode needs a name");
  const Value zero(int64_t{0});
  const Value& value = call.input(3).is_none() ? zero : call.input(3);
  if (!is_number(value)) return call.context.fail("the value needs a number");
  constexpr const char* kNames[] = {"constant", "reflect", "replicate", "circular"};
  for (uint32_t i = 0; i < std::size(kNames); ++i) {
    if (std::strcmp(name, kNames[i]) == 0) {
      return give_padded(call, *input, count, pads, static_cast<Pad>(i), value);
    }
  }
  return call.context.fail("pad() has no mode '%s'", name);
}

bool run_pad_by(Call& call, Pad mode) {
  Tensor* input;
  int64_t pads[2 * kMostAxes];
  uint32_t count;
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, 2 * kMostAxes, pads, &count)) return false;
  return give_padded(call, *input, count, pads, mode, Value());
}
template <Pad kMode>
bool pad_by(Call& call) {
  return run_pad_by(call, kMode);
}

constexpr OperatorRow kRows[] = {
    {"aten::_upsample_nearest_exact1d", 3, 1, upsample<Filter::kNearestExact, 1>},
    {"aten::_upsample_nearest_exact1d.vec", 3, 1, upsample_vec<Filter::kNearestExact, 1>},
    {"aten::_upsample_nearest_exact2d", 4, 1, upsample<Filter::kNearestExact, 2>},
    {"aten::_upsample_nearest_exact2d.vec", 3, 1, upsample_vec<Filter::kNearestExact, 2>},
    {"aten::constant_pad_nd", 3, 1, constant_pad},
    {"aten::grid_sampler", 5, 1, grid_sampler},
    {"aten::grid_sampler_2d", 5, 1, grid_sampler},
    {"aten::pad", 4, 1, pad},
    {"aten::reflection_pad1d", 2, 1, pad_by<Pad::kReflect>},
    {"aten::reflection_pad2d", 2, 1, pad_by<Pad::kReflect>},
    {"aten::replication_pad1d", 2, 1, pad_by<Pad::kReplicate>},
    {"aten::replication_pad2d", 2, 1, pad_by<Pad::kReplicate>},
    {"aten::upsample_bicubic2d", 5, 1, upsample<Filter::kCubic, 2>},
    {"aten::upsample_bicubic2d.vec", 4, 1, upsample_vec<Filter::kCubic, 2>},
    {"aten::upsample_bilinear2d", 5, 1, upsample<Filter::kLinear, 2>},
    {"aten::upsample_bilinear2d.vec", 4, 1, upsample_vec<Filter::kLinear, 2>},
    {"aten::upsample_linear1d", 4, 1, upsample<Filter::kLinear, 1>},
    {"aten::upsample_linear1d.vec", 4, 1, upsample_vec<Filter::kLinear, 1>},
    {"aten::upsample_nearest1d", 3, 1, upsample<Filter::kNearest, 1>},
    {"aten::upsample_nearest1d.vec", 3, 1, upsample_vec<Filter::kNearest, 1>},
    {"aten::upsample_nearest2d", 4, 1, upsample<Filter::kNearest, 2>},
    {"aten::upsample_nearest2d.vec", 3, 1, upsample_vec<Filter::kNearest, 2>},
};

}  // namespace

const OperatorTable resizing_operators = {kRows, std::size(kRows)};

}  // namespace nnapi_shim::program
