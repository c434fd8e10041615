// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/windows.h"

#include <algorithm>
#include <limits>

namespace nnapi_convert::litert {
namespace {

TensorId padding_tensor(Graph& graph, const Window& window) {
  std::vector<int32_t> numbers(8, 0);  // before and after of N, H, W, C
  for (size_t i = 0; i < 2; ++i) {
    numbers[2 * i + 2] = static_cast<int32_t>(window.before[i]);
    numbers[2 * i + 3] = static_cast<int32_t>(window.after[i]);
  }
  return graph.ints(numbers, {4, 2});
}

TensorId padded_tensor(Graph& graph, TensorId input, const Window& window) {
  Dims dims = graph.dims_of(input);
  for (size_t i = 0; i < 2; ++i) {
    dims[i + 1] += Dim(window.before[i] + window.after[i]);
  }
  return graph.like(input, dims);
}

}  // namespace

Window window_of(const OperationWriter& w, Pair filter) {
  Window window;
  window.filter = filter;
  window.stride = {w.integer("stride_height"), w.integer("stride_width")};
  window.dilation = {w.integer("dilation_height", 1), w.integer("dilation_width", 1)};
  window.has_numbers = w.has_explicit_padding();
  if (window.has_numbers) {
    window.before = {w.integer("padding_top"), w.integer("padding_left")};
    window.after = {w.integer("padding_bottom"), w.integer("padding_right")};
  } else if (w.integer("padding_scheme") == static_cast<int64_t>(PaddingScheme::SAME)) {
    window.scheme = Padding::SAME;
  }
  return window;
}

std::optional<Padding> find_scheme(Window& window, const nnapi::Operand& input, const nnapi::Operand& output) {
  if (!window.has_numbers) return window.scheme;
  bool is_same = true;
  for (size_t i = 0; i < 2; ++i) {
    const Dim &in = input.dims[i + 1], &out = output.dims[i + 1];
    const int64_t reach = (window.filter[i] - 1) * window.dilation[i] + 1;
    if (!in.is_fixed() || !out.is_fixed()) {
      // With stride 1 the padding doesn't depend on the size.
      const bool keeps_size = window.stride[i] == 1 && window.before[i] + window.after[i] == reach - 1;
      is_same = is_same && keeps_size && window.before[i] == (reach - 1) / 2;
      continue;
    }
    const int64_t read = (out.value() - 1) * window.stride[i] + reach;
    window.after[i] = std::max<int64_t>(read - in.value() - window.before[i], 0);
    // TensorFlow Lite 2.13 pads SAME wrongly where the last window ends before the last number.
    const int64_t total = read - in.value();
    const int64_t all_windows = (in.value() + window.stride[i] - 1) / window.stride[i];
    is_same = is_same && total >= 0 && out.value() == all_windows && window.before[i] == total / 2;
  }
  const Pair none{0, 0};
  if (window.before == none && window.after == none) return Padding::VALID;
  if (is_same) return Padding::SAME;
  return std::nullopt;
}

TensorId padded(Graph& graph, TensorId input, const Window& window) {
  const TensorId result = padded_tensor(graph, input, window);
  const TensorId paddings = padding_tensor(graph, window);
  graph.emit(Builtin::PAD, {input, paddings}, {result}, Options::PAD);
  return result;
}

TensorId padded_with_lowest(Graph& graph, TensorId input, const Window& window) {
  const TensorId result = padded_tensor(graph, input, window);
  const TensorId paddings = padding_tensor(graph, window);
  TensorId value = kLeftOut;
  switch (graph.at(input).type) {
    case TensorType::INT8:
      value = graph.byte_like(input, std::numeric_limits<int8_t>::lowest());
      break;
    case TensorType::UINT8:
      value = graph.byte_like(input, 0);
      break;
    default:
      value = graph.floats({std::numeric_limits<float>::lowest()}, {1});
  }
  graph.emit(Builtin::PADV2, {input, paddings, value}, {result}, Options::PADV2);
  return result;
}

}  // namespace nnapi_convert::litert
