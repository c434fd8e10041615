// SPDX-License-Identifier: BSD-3-Clause
// Pools, norms by channel or row, and moves of channels into pixels.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/program/arguments.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

// Images in float64, [N * C, H, W]. A 1-D input becomes images of height 1.
struct Images {
  Value values;
  int64_t count = 1, height = 1, width = 1;
  const double* data() const { return values.tensor().data<double>(); }
};

bool read_images(Call& call, uint32_t axes, Tensor** input, Images* images) {
  if (!tensor_at(call, 0, input)) return false;
  Tensor& tensor = **input;
  if (!need_floating(call, tensor)) return false;
  if (tensor.rank != axes + 1 && tensor.rank != axes + 2) {
    return call.context.fail("the input has %u axes, needs %u or %u", tensor.rank, axes + 1, axes + 2);
  }
  for (uint32_t i = 0; i + axes < tensor.rank; ++i) images->count *= tensor.sizes[i];
  images->width = tensor.sizes[tensor.rank - 1];
  if (axes == 2) images->height = tensor.sizes[tensor.rank - 2];
  images->values = Value(row_major_copy(call.context.pool, tensor, ScalarType::kFloat64));
  return !images->values.is_none() || call.context.fail_memory();
}

// The windows along one axis.
struct Windows {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

// The places along one axis that a window reads: from `begin` to before `end`, `step` apart. Adaptive windows divide
// the axis.
struct Window {
  int64_t begin, end, step, padded;  // `padded`: the window's length inside the padded axis
};

Window window_of(const Windows& axis, int64_t place, bool is_adaptive) {
  if (is_adaptive) {
    const int64_t begin = place * axis.in / axis.out, end = ((place + 1) * axis.in + axis.out - 1) / axis.out;
    return {begin, end, 1, end - begin};
  }
  int64_t begin = place * axis.stride - axis.padding;
  const int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
  const int64_t padded_end = std::min(begin + reach, axis.in + axis.padding);
  const int64_t padded = padded_end - begin, end = std::min(begin + reach, axis.in);
  while (begin < 0) begin += axis.dilation;
  return {begin, end, axis.dilation, padded};
}

struct Pooling {
  Windows axes[2];
  bool is_adaptive = false, is_most = false, counts_padding = true;
  int64_t divisor = 0;
  bool gives_places = false;
};

bool give_pooled(Call& call, Tensor& input, const Images& images, uint32_t axes, const Pooling& pooling) {
  int64_t sizes[kMostAxes];
  std::copy(input.sizes, input.sizes + input.rank, sizes);
  for (uint32_t i = 0; i < axes; ++i) sizes[input.rank - axes + i] = pooling.axes[2 - axes + i].out;
  Pool& pool = call.context.pool;
  const Value result(make_tensor(pool, ScalarType::kFloat64, input.rank, sizes));
  if (result.is_none()) return call.context.fail_memory();
  int64_t* places = nullptr;
  if (pooling.gives_places) {
    Tensor* indices = make_tensor(pool, ScalarType::kInt64, input.rank, sizes);
    if (!give(call, 1, indices)) return false;
    places = indices->data<int64_t>();
  }
  const double* image = images.data();
  auto* out = result.tensor().data<double>();
  for (int64_t n = 0; n < images.count; ++n, image += images.height * images.width) {
    for (int64_t y = 0; y < pooling.axes[0].out; ++y) {
      const Window rows = window_of(pooling.axes[0], y, pooling.is_adaptive);
      for (int64_t x = 0; x < pooling.axes[1].out; ++x) {
        const Window columns = window_of(pooling.axes[1], x, pooling.is_adaptive);
        double sum = pooling.is_most ? -std::numeric_limits<double>::infinity() : 0;
        int64_t place = rows.begin * images.width + columns.begin, count = 0;
        for (int64_t i = rows.begin; i < rows.end; i += rows.step) {
          for (int64_t k = columns.begin; k < columns.end; k += columns.step) {
            const double value = image[i * images.width + k];
            ++count;
            if (!pooling.is_most) {
              sum += value;
            } else if (value > sum || value != value) {
              sum = value;
              place = i * images.width + k;
            }
          }
        }
        if (!pooling.is_most) {
          int64_t divisor = pooling.divisor != 0 ? pooling.divisor : count;
          if (pooling.divisor == 0 && pooling.counts_padding) divisor = rows.padded * columns.padded;
          sum = count == 0 ? 0 : sum / static_cast<double>(divisor);
        }
        *out++ = sum;
        if (places != nullptr) *places++ = place;
      }
    }
  }
  return give(call, 0, converted_tensor(pool, result.tensor(), input.dtype));
}

bool list_at(Call& call, uint32_t number, uint32_t axes, int64_t least, int64_t* values, bool* is_empty) {
  int64_t list[2];
  uint32_t count;
  if (!ints_at(call, number, axes, list, &count)) return false;
  *is_empty = count == 0;
  if (count != 0 && count != 1 && count != axes)
    return call.context.fail("argument %u needs %u numbers", number + 1, axes);
  for (uint32_t i = 0; count > 0 && i < axes; ++i) {
    values[i] = list[count == 1 ? 0 : i];
    if (values[i] < least || values[i] > (int64_t{1} << 30)) {
      return call.context.fail("argument %u is %lld", number + 1, static_cast<long long>(values[i]));
    }
  }
  return true;
}

// Runs a pool. Its arguments are the input, kernel, stride, padding, then for max pools dilation and ceil_mode, for
// average pools ceil_mode, count_include_pad and divisor.
bool run_pool(Call& call, uint32_t axes, bool is_most, bool places) {
  Tensor* input;
  Images images;
  Pooling pooling;
  int64_t kernel[2], stride[2], padding[2] = {}, dilation[2] = {1, 1};
  bool is_empty, ceil_mode;
  if (!list_at(call, 1, axes, 1, kernel, &is_empty)) return false;
  if (is_empty) return call.context.fail("the size of the window is missing");
  std::copy(kernel, kernel + axes, stride);
  if (!list_at(call, 2, axes, 1, stride, &is_empty) || !list_at(call, 3, axes, 0, padding, &is_empty)) return false;
  if (is_most && !list_at(call, 4, axes, 1, dilation, &is_empty)) return false;
  if (!bool_at(call, is_most ? 5 : 4, &ceil_mode)) return false;
  if (!is_most && !bool_at(call, 5, &pooling.counts_padding)) return false;
  if (!is_most && axes == 2 && !optional_int_at(call, 6, 0, &pooling.divisor)) return false;
  if (!read_images(call, axes, &input, &images)) return false;
  pooling.is_most = is_most;
  pooling.gives_places = places;
  for (uint32_t i = 0; i < axes; ++i) {
    Windows& axis = pooling.axes[2 - axes + i];
    axis = {input->sizes[input->rank - axes + i], 1, kernel[i], stride[i], padding[i], dilation[i]};
    if (padding[i] > kernel[i] / 2 || axis.in > (int64_t{1} << 31) || axis.in < 1) {
      return call.context.fail("the padding of a pool is more than half of its window, or its input is empty");
    }
    const int64_t room = axis.in + 2 * padding[i] - (dilation[i] * (kernel[i] - 1) + 1);
    if (room < 0 && !(ceil_mode && room + stride[i] - 1 >= 0)) {
      return call.context.fail("the window of a pool is larger than its input");
    }
    axis.out = (room + (ceil_mode ? stride[i] - 1 : 0)) / stride[i] + 1;
    if (ceil_mode && (axis.out - 1) * stride[i] >= axis.in + padding[i]) --axis.out;
    if (axis.out < 1) return call.context.fail("the window of a pool is larger than its input");
  }
  return give_pooled(call, *input, images, axes, pooling);
}
template <uint32_t kAxes, bool kIsMost, bool kPlaces>
bool pool(Call& call) {
  return run_pool(call, kAxes, kIsMost, kPlaces);
}

bool run_adaptive_pool(Call& call, uint32_t axes, bool is_most) {
  Tensor* input;
  Images images;
  Pooling pooling;
  int64_t sizes[2];
  bool is_empty;
  // A size of None means the input's; TorchScript fills it in.
  if (!list_at(call, 1, axes, 0, sizes, &is_empty) || is_empty || !read_images(call, axes, &input, &images)) {
    return call.context.fail("an adaptive pool needs its sizes");
  }
  pooling.is_adaptive = true;
  pooling.counts_padding = false;
  pooling.is_most = pooling.gives_places = is_most;
  for (uint32_t i = 0; i < axes; ++i) {
    Windows& axis = pooling.axes[2 - axes + i];
    axis.in = input->sizes[input->rank - axes + i];
    axis.out = sizes[i];
    if (axis.in < 1 || axis.in > (int64_t{1} << 31)) return call.context.fail("the input of a pool is empty");
  }
  return give_pooled(call, *input, images, axes, pooling);
}
template <uint32_t kAxes, bool kIsMost>
bool adaptive_pool(Call& call) {
  return run_adaptive_pool(call, kAxes, kIsMost);
}

// Reads a number for each channel; `otherwise` for all if the tensor is None.
bool channel_numbers(Call& call, uint32_t number, int64_t channels, double otherwise, Value* numbers) {
  Tensor* tensor;
  if (!optional_tensor_at(call, number, &tensor)) return false;
  Tensor* copy = make_tensor(call.context.pool, ScalarType::kFloat64, 1, &channels);
  if (copy == nullptr) return call.context.fail_memory();
  *numbers = Value(copy);
  if (tensor == nullptr) {
    fill_elements(*copy, otherwise);
    return true;
  }
  if (tensor->numel() != channels) return call.context.fail("argument %u needs a number for each channel", number + 1);
  Cursor cursor;
  cursor.start(*tensor);
  cursor.read(static_cast<size_t>(channels), Compute::kDouble, copy->data<double>());
  return true;
}

// How rows are normalised: each row by its mean and variance, then by the weights of `channels` channels of `inner`
// elements each.
struct Norm {
  int64_t rows, length, channels, inner;
  double eps;
  Value weights, biases, means, variances;  // means and variances are None if each row's own are used
  bool gives_moments = false;
};

bool give_normed(Call& call, Tensor& input, const Norm& norm) {
  Pool& pool = call.context.pool;
  Tensor* result = make_tensor_like(pool, input.dtype, input.rank, input.sizes, input);
  if (!give(call, 0, result)) return false;
  Cursor cursor, out;
  cursor.start(input);
  out.start(*result);
  double *row_means = nullptr, *row_scales = nullptr;
  if (norm.gives_moments) {
    row_means = call.outputs[1].tensor().data<double>();
    row_scales = call.outputs[2].tensor().data<double>();
  }
  if (norm.length == 0) return true;
  const auto* weights = norm.weights.tensor().data<double>();
  const auto* biases = norm.biases.tensor().data<double>();
  double buffer[kChunk];
  int64_t element = 0;
  for (int64_t row = 0; row < norm.rows; ++row) {
    double mean = 0, scale = 1;
    const bool has_own = norm.means.is_none();
    if (has_own) {
      double variance = 0;
      for (int pass = 0; pass < 2; ++pass) {
        Cursor ahead = cursor;
        for (int64_t i = 0; i < norm.length;) {
          const auto count = static_cast<size_t>(std::min<int64_t>(norm.length - i, kChunk));
          ahead.read(count, Compute::kDouble, buffer);
          for (size_t k = 0; k < count; ++k) {
            if (pass == 0) {
              mean += buffer[k];
            } else {
              variance += (buffer[k] - mean) * (buffer[k] - mean);
            }
          }
          i += static_cast<int64_t>(count);
        }
        if (pass == 0) mean /= static_cast<double>(norm.length);
      }
      scale = 1 / std::sqrt(variance / static_cast<double>(norm.length) + norm.eps);
      if (row_means != nullptr) {
        row_means[row] = mean;
        row_scales[row] = scale;
      }
    }
    for (int64_t i = 0; i < norm.length;) {
      const int64_t channel = element / norm.inner % norm.channels;
      const int64_t run = std::min(norm.inner - element % norm.inner, norm.length - i);
      if (!has_own) {
        mean = norm.means.tensor().data<double>()[channel];
        scale = 1 / std::sqrt(norm.variances.tensor().data<double>()[channel] + norm.eps);
      }
      const auto count = static_cast<size_t>(std::min<int64_t>(run, kChunk));
      cursor.read(count, Compute::kDouble, buffer);
      for (size_t k = 0; k < count; ++k) buffer[k] = (buffer[k] - mean) * scale * weights[channel] + biases[channel];
      out.write(count, Compute::kDouble, buffer);
      i += static_cast<int64_t>(count);
      element += static_cast<int64_t>(count);
    }
  }
  return true;
}

bool norm_arguments(Call& call, Tensor& input, uint32_t weight_number, Norm* norm) {
  return need_floating(call, input) && channel_numbers(call, weight_number, norm->channels, 1, &norm->weights) &&
         channel_numbers(call, weight_number + 1, norm->channels, 0, &norm->biases);
}

int64_t elements_behind(const Tensor& tensor, uint32_t axis) {
  int64_t count = 1;
  for (uint32_t i = axis; i < tensor.rank; ++i) count *= tensor.sizes[i];
  return count;
}

bool run_layer_norm(Call& call, bool is_native) {
  Tensor* input;
  int64_t shape[kMostAxes];
  uint32_t count;
  Norm norm;
  if (!tensor_at(call, 0, &input) || !ints_at(call, 1, kMostAxes, shape, &count)) return false;
  if (!number_at(call, 4, &norm.eps)) return false;
  if (count == 0 || count > input->rank || !std::equal(shape, shape + count, input->sizes + input->rank - count)) {
    return call.context.fail("layer_norm() needs the sizes of the input's last axes");
  }
  norm.length = norm.channels = elements_behind(*input, input->rank - count);
  norm.rows = norm.length == 0 ? 0 : input->numel() / norm.length;
  norm.inner = 1;
  if (!norm_arguments(call, *input, 2, &norm)) return false;
  if (!is_native) return give_normed(call, *input, norm);
  int64_t sizes[kMostAxes];
  for (uint32_t i = 0; i < input->rank; ++i) sizes[i] = i < input->rank - count ? input->sizes[i] : 1;
  norm.gives_moments = true;
  for (uint32_t i = 1; i < 3; ++i) {
    if (!give(call, i, make_tensor(call.context.pool, ScalarType::kFloat64, input->rank, sizes))) return false;
  }
  if (!give_normed(call, *input, norm)) return false;
  for (uint32_t i = 1; i < 3; ++i) {
    const Value moments = call.outputs[i];
    if (!give(call, i, converted_tensor(call.context.pool, moments.tensor(), input->dtype))) return false;
  }
  return true;
}
template <bool kIsNative>
bool layer_norm(Call& call) {
  return run_layer_norm(call, kIsNative);
}

bool group_norm(Call& call) {
  Tensor* input;
  int64_t groups;
  Norm norm;
  if (!tensor_at(call, 0, &input) || !int_at(call, 1, &groups) || !number_at(call, 4, &norm.eps)) return false;
  if (input->rank < 2 || groups < 1 || groups > std::max<int64_t>(input->sizes[1], 1) ||
      input->sizes[1] % groups != 0) {
    return call.context.fail("group_norm() needs channels that %lld groups share", static_cast<long long>(groups));
  }
  norm.channels = input->sizes[1];
  norm.inner = elements_behind(*input, 2);
  norm.length = norm.channels / groups * norm.inner;
  norm.rows = input->sizes[0] * groups;
  return norm_arguments(call, *input, 2, &norm) && give_normed(call, *input, norm);
}

// Runs batch_norm and instance_norm. With `is_instance`, rows are single channels if the input's own moments are used.
bool run_batch_norm(Call& call, bool is_instance) {
  Tensor* input;
  Norm norm;
  bool uses_input;
  if (!tensor_at(call, 0, &input) || !bool_at(call, 5, &uses_input) || !number_at(call, 7, &norm.eps)) return false;
  if (input->rank < 2) return call.context.fail("the input has %u axes, needs 2 or more", input->rank);
  if (uses_input && !is_instance) return call.context.fail("batch_norm() in training is not in the list");
  norm.channels = input->sizes[1];
  norm.inner = elements_behind(*input, 2);
  norm.length = is_instance ? norm.inner : norm.channels * norm.inner;
  norm.rows = norm.length == 0 ? 0 : input->numel() / norm.length;
  if (!uses_input) {
    if (call.input(3).is_none() || call.input(4).is_none()) return call.context.fail("the running mean is missing");
    if (!channel_numbers(call, 3, norm.channels, 0, &norm.means)) return false;
    if (!channel_numbers(call, 4, norm.channels, 1, &norm.variances)) return false;
  }
  return norm_arguments(call, *input, 1, &norm) && give_normed(call, *input, norm);
}
template <bool kIsInstance>
bool batch_norm(Call& call) {
  return run_batch_norm(call, kIsInstance);
}

// Moves channels into pixels (or back): copies a view with more axes.
bool run_pixel_shuffle(Call& call, bool back) {
  Tensor* input;
  int64_t factor;
  if (!tensor_at(call, 0, &input) || !int_at(call, 1, &factor)) return false;
  const uint32_t rank = input->rank;
  if (rank < 3 || rank + 2 > kMostAxes) return call.context.fail("the input has %u axes", rank);
  int64_t sizes[kMostAxes];
  std::copy(input->sizes, input->sizes + rank, sizes);
  int64_t &channels = sizes[rank - 3], &height = sizes[rank - 2], &width = sizes[rank - 1];
  const bool fits = factor > 0 && factor < (1 << 20) &&
                    (back ? height % factor == 0 && width % factor == 0 : channels % (factor * factor) == 0);
  if (!fits) return call.context.fail("the factor %lld doesn't divide the input", static_cast<long long>(factor));
  channels = back ? channels * factor * factor : channels / (factor * factor);
  height = back ? height / factor : height * factor;
  width = back ? width / factor : width * factor;
  Tensor* result = make_tensor(call.context.pool, input->dtype, rank, sizes);
  if (!give(call, 0, result)) return false;
  if (result->numel() == 0) return true;
  // Both are seen as [..., channels, down, across, rows, columns].
  Tensor from = *input, to = *result;
  const int64_t few[5] = {std::min(input->sizes[rank - 3], channels), factor, factor,
                          std::min(input->sizes[rank - 2], height), std::min(input->sizes[rank - 1], width)};
  for (Tensor* tensor : {&from, &to}) {
    const bool has_pixels = (tensor == &to) != back;
    const int64_t channel = tensor->strides[rank - 3], row = tensor->strides[rank - 2],
                  column = tensor->strides[rank - 1];
    const int64_t strides[5] = {has_pixels ? channel : channel * factor * factor, has_pixels ? row : channel * factor,
                                has_pixels ? column : channel, has_pixels ? row * factor : row,
                                has_pixels ? column * factor : column};
    std::copy(few, few + 5, tensor->sizes + rank - 3);
    std::copy(strides, strides + 5, tensor->strides + rank - 3);
    tensor->rank = rank + 2;
  }
  copy_elements(from, to);
  return true;
}
template <bool kBack>
bool pixel_shuffle(Call& call) {
  return run_pixel_shuffle(call, kBack);
}

constexpr OperatorRow kRows[] = {
    {"aten::adaptive_avg_pool1d", 2, 1, adaptive_pool<1, false>},
    {"aten::adaptive_avg_pool2d", 2, 1, adaptive_pool<2, false>},
    {"aten::adaptive_max_pool2d", 2, 2, adaptive_pool<2, true>},
    {"aten::avg_pool1d", 6, 1, pool<1, false, false>},
    {"aten::avg_pool2d", 7, 1, pool<2, false, false>},
    {"aten::batch_norm", 9, 1, batch_norm<false>},
    {"aten::group_norm", 6, 1, group_norm},
    {"aten::instance_norm", 9, 1, batch_norm<true>},
    {"aten::layer_norm", 6, 1, layer_norm<false>},
    {"aten::max_pool1d", 6, 1, pool<1, true, false>},
    {"aten::max_pool2d", 6, 1, pool<2, true, false>},
    {"aten::max_pool2d_with_indices", 6, 2, pool<2, true, true>},
    {"aten::native_layer_norm", 5, 3, layer_norm<true>},
    {"aten::pixel_shuffle", 2, 1, pixel_shuffle<false>},
    {"aten::pixel_unshuffle", 2, 1, pixel_shuffle<true>},
};

}  // namespace

const OperatorTable pooling_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
