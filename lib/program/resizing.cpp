// SPDX-License-Identifier: BSD-3-Clause
// Operators that resize images, or read them between their elements.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/program/arguments.h"
#include "lib/program/float_loops.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

enum class Filter { kNearest, kNearestExact, kLinear, kCubic };

// Rounds as a computation in the dtype would.
struct Rounding {
  bool is_double;
  double operator()(double value) const { return is_double ? value : static_cast<double>(static_cast<float>(value)); }
};

constexpr int64_t kMostTaps = 4;

// For each place of the result along one axis, the elements from which it is computed, and their weights.
struct Taps {
  int64_t in, out;
  int64_t count;           // taps for each place
  Value indices, weights;  // [out, count]: int64; and float64 or float32, as the elements
};

// Computes the weights of the four elements around a place by Keys' cubic with a = -0.75. `t` is the place's distance
// from the second one.
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

void mix_rows(const float* const* rows, const float* weights, int64_t columns, float* out) {
  add_scaled(columns, rows[0], weights[0], rows[1], weights[1], out);
}
void mix_rows(const double* const* rows, const double* weights, int64_t columns, double* out) {
  for (int64_t x = 0; x < columns; ++x) out[x] = weights[0] * rows[0][x] + weights[1] * rows[1][x];
}

// Computes a row of the result's columns from one row of the image.
template <typename T>
void mix_columns(const T* row, const Taps& columns, T* out) {
  const int64_t taps = columns.count;
  const auto* index = columns.indices.tensor().data<int64_t>();
  const auto* weight = columns.weights.tensor().data<T>();
  for (int64_t x = 0; taps == 1 && x < columns.out; ++x) out[x] = row[index[x]];
  for (int64_t x = 0; taps == 2 && x < columns.out; ++x, index += 2, weight += 2) {
    out[x] = weight[0] * row[index[0]] + weight[1] * row[index[1]];
  }
  for (int64_t x = 0; taps > 2 && x < columns.out; ++x, index += taps, weight += taps) {
    T sum = 0;
    for (int64_t k = 0; k < taps; ++k) sum += weight[k] * row[index[k]];
    out[x] = sum;
  }
}

// Resamples `count` images. `memory` is [kMostTaps, columns.out]: rows mixed along their columns, kept while the next
// places of the result need them. A place needs consecutive rows, so that each has a place of its own in it.
template <typename T>
void resample(int64_t count, const T* in, T* out, const Taps& rows, const Taps& columns, T* memory) {
  for (int64_t image = 0; image < count; ++image, in += rows.in * columns.in) {
    int64_t kept[kMostTaps] = {-1, -1, -1, -1};
    const auto* index = rows.indices.tensor().data<int64_t>();
    const auto* weight = rows.weights.tensor().data<T>();
    for (int64_t y = 0; y < rows.out; ++y, index += rows.count, weight += rows.count, out += columns.out) {
      const T* mixed[kMostTaps];
      for (int64_t j = 0; j < rows.count; ++j) {
        const int64_t place = index[j] % kMostTaps;
        T* values = memory + place * columns.out;
        if (kept[place] != index[j]) mix_columns(in + index[j] * columns.in, columns, values);
        kept[place] = index[j];
        mixed[j] = values;
      }
      if (rows.count == 1) {
        std::memcpy(out, mixed[0], static_cast<size_t>(columns.out) * sizeof(T));
      } else if (rows.count == 2) {
        mix_rows(mixed, weight, columns.out, out);
      } else {
        for (int64_t x = 0; x < columns.out; ++x) {
          T sum = 0;
          for (int64_t j = 0; j < rows.count; ++j) sum += weight[j] * mixed[j][x];
          out[x] = sum;
        }
      }
    }
  }
}

template <typename T>
void resample_images(int64_t count, const Tensor& in, Tensor& out, const Taps* taps, Tensor& memory) {
  resample(count, in.data<T>(), out.data<T>(), taps[0], taps[1], memory.data<T>());
}

// Resizes the last one or two axes of [N, C, ...], which the caller has checked.
bool give_resized(Call& call, Tensor& input, uint32_t axes, const int64_t* sizes, Filter filter, bool align_corners,
                  const double* factors) {
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
  const int64_t count = input.sizes[0] * input.sizes[1], row_sizes[2] = {kMostTaps, taps[1].out};
  const Value memory(make_tensor(pool, work, 2, row_sizes));
  if (memory.is_none()) return call.context.fail_memory();
  const auto run = is_single ? resample_images<float> : resample_images<double>;
  run(count, source.tensor(), *result, taps, memory.tensor());
  if (work == input.dtype) return true;
  return give(call, 0, converted_tensor(pool, *result, input.dtype));
}

// Runs an upsample operator. The arguments are (input, size, align_corners, factors...), or with `has_list` (input,
// size or None, align_corners, list of factors or None). Only filters that mix elements have the argument
// align_corners.
bool run_upsample(Call& call, Filter filter, uint32_t axes, bool has_list) {
  const bool aligns = filter == Filter::kLinear || filter == Filter::kCubic;
  const uint32_t factor_number = aligns ? 3 : 2;
  Tensor* input;
  int64_t sizes[2];
  bool align_corners = false;
  double factors[2] = {0, 0};
  if (!tensor_at(call, 0, &input) || (aligns && !bool_at(call, 2, &align_corners))) return false;
  if (input->rank != axes + 2) return call.context.fail("the input has %u axes, needs %u", input->rank, axes + 2);
  if (has_list) {
    if (!call.input(factor_number).is_none() && !numbers_at(call, factor_number, axes, factors)) return false;
  } else {
    for (uint32_t i = 0; i < axes; ++i) {
      if (!optional_number_at(call, factor_number + i, 0, &factors[i])) return false;
    }
  }
  if (has_list && call.input(1).is_none()) {
    for (uint32_t i = 0; i < axes; ++i) sizes[i] = int_of(static_cast<double>(input->sizes[2 + i]) * factors[i]);
    return give_resized(call, *input, axes, sizes, filter, align_corners, factors);
  }
  uint32_t count;
  if (!ints_at(call, 1, axes, sizes, &count)) return false;
  if (count != axes) return call.context.fail("the size needs %u numbers", axes);
  if (has_list) factors[0] = factors[1] = 0;
  return give_resized(call, *input, axes, sizes, filter, align_corners, factors);
}
template <Filter kFilter, uint32_t kAxes>
bool upsample(Call& call) {
  return run_upsample(call, kFilter, kAxes, false);
}
template <Filter kFilter, uint32_t kAxes>
bool upsample_vec(Call& call) {
  return run_upsample(call, kFilter, kAxes, true);
}

enum class Border { kZeros, kEdge, kReflected };

// Turns a coordinate from -1 to 1 into a place along an axis.
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
      if (!(value > -1e15 && value < 1e15)) value = -100;  // outside
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

constexpr OperatorRow kRows[] = {
    {"aten::_upsample_nearest_exact1d", 3, 1, upsample<Filter::kNearestExact, 1>},
    {"aten::_upsample_nearest_exact1d.vec", 3, 1, upsample_vec<Filter::kNearestExact, 1>},
    {"aten::_upsample_nearest_exact2d", 4, 1, upsample<Filter::kNearestExact, 2>},
    {"aten::_upsample_nearest_exact2d.vec", 3, 1, upsample_vec<Filter::kNearestExact, 2>},
    {"aten::grid_sampler", 5, 1, grid_sampler},
    {"aten::grid_sampler_2d", 5, 1, grid_sampler},
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

const OperatorTable resizing_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
