// SPDX-License-Identifier: BSD-3-Clause
// CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D and MAX_POOL_2D by their definitions, with explicit padding, in NCHW.
#include <algorithm>
#include <limits>

#include "lib/nnapi/permutation.h"
#include "tests/nnapi/interpreter.h"

namespace nnapi_convert::nnapi::testing {
namespace {

struct Window {
  int64_t left, right, top, bottom, stride_width, stride_height, width, height, dilation_width = 1, dilation_height = 1;

  int64_t out_height(int64_t in) const {
    return (in + top + bottom - (height - 1) * dilation_height - 1) / stride_height + 1;
  }
  int64_t out_width(int64_t in) const {
    return (in + left + right - (width - 1) * dilation_width - 1) / stride_width + 1;
  }
};

// Calls visit(filter row, filter column, input row, input column) for each cell of one output's window in the input.
template <typename Visit>
void for_each_cell(const Window& window, const Tensor& x, int64_t row, int64_t column, Visit visit) {
  for (int64_t i = 0; i < window.height; ++i) {
    for (int64_t j = 0; j < window.width; ++j) {
      const int64_t in_row = row * window.stride_height - window.top + i * window.dilation_height;
      const int64_t in_column = column * window.stride_width - window.left + j * window.dilation_width;
      if (in_row < 0 || in_row >= x.shape[2] || in_column < 0 || in_column >= x.shape[3]) continue;
      visit(i, j, in_row, in_column);
    }
  }
}

// Runs `element` for each index of an output [n, channels, h, w], in the layout that the flag says.
template <typename Element>
Tensor each_output(const Tensor& x, const Window& window, int64_t channels, bool nchw, Element element) {
  const std::vector<int64_t> shape = {x.shape[0], channels, window.out_height(x.shape[2]),
                                      window.out_width(x.shape[3])};
  Tensor result(shape);
  std::vector<int64_t> index(4, 0);
  do {
    result.at(index) = element(index);
  } while (advance(index, shape));
  return nchw ? result : permuted(result, kToNhwc);
}

Window window_of(const Arguments& arguments, size_t first) {
  return {arguments.integer(first),
          arguments.integer(first + 1),
          arguments.integer(first + 2),
          arguments.integer(first + 3),
          arguments.integer(first + 4),
          arguments.integer(first + 5),
          0,
          0};
}

}  // namespace

Tensor run_convolution(const Arguments& arguments) {
  const bool depthwise = arguments.operation.code == OperationCode::DEPTHWISE_CONV_2D;
  const bool grouped = arguments.operation.code == OperationCode::GROUPED_CONV_2D;
  const size_t activation = depthwise || grouped ? 10 : 9;
  const bool nchw = arguments.flag(activation + 1, false);
  const Tensor x = nchw ? arguments.tensor(0) : permuted(arguments.tensor(0), kToNchw);
  const Tensor& filter = arguments.tensor(1);
  const int64_t multiplier = depthwise ? arguments.integer(9) : 1;
  Window window = window_of(arguments, 3);
  window.height = filter.shape[1];
  window.width = filter.shape[2];
  if (arguments.operation.inputs.size() > activation + 2) {
    window.dilation_width = arguments.integer(activation + 2);
    window.dilation_height = arguments.integer(activation + 3);
  }
  const int64_t channels = filter.shape[depthwise ? 3 : 0];
  const int64_t in_group = filter.shape[3];
  const int64_t out_group = grouped ? channels / arguments.integer(9) : channels;
  return each_output(x, window, channels, nchw, [&](const std::vector<int64_t>& at) {
    float sum = arguments.tensor(2).at({at[1]});
    for_each_cell(window, x, at[2], at[3], [&](int64_t i, int64_t j, int64_t row, int64_t column) {
      if (depthwise) {
        sum += x.at({at[0], at[1] / multiplier, row, column}) * filter.at({0, i, j, at[1]});
        return;
      }
      for (int64_t in = 0; in < in_group; ++in) {
        sum += x.at({at[0], at[1] / out_group * in_group + in, row, column}) * filter.at({at[1], i, j, in});
      }
    });
    return activated(sum, arguments.integer(activation));
  });
}

Tensor run_max_pool(const Arguments& arguments) {
  const bool nchw = arguments.flag(10, false);
  const Tensor x = nchw ? arguments.tensor(0) : permuted(arguments.tensor(0), kToNchw);
  Window window = window_of(arguments, 1);
  window.width = arguments.integer(7);
  window.height = arguments.integer(8);
  return each_output(x, window, x.shape[1], nchw, [&](const std::vector<int64_t>& at) {
    float largest = std::numeric_limits<float>::lowest();
    for_each_cell(window, x, at[2], at[3], [&](int64_t, int64_t, int64_t row, int64_t column) {
      largest = std::max(largest, x.at({at[0], at[1], row, column}));
    });
    return activated(largest, arguments.integer(9));
  });
}

}  // namespace nnapi_convert::nnapi::testing
