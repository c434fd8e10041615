// SPDX-License-Identifier: BSD-3-Clause
// Pools and resizing.
#include <algorithm>

#include "lib/litert/operations.h"
#include "lib/litert/windows.h"

namespace nnapi_convert::litert {
namespace {

Table pool_options(const Window& window, Padding padding, int64_t activation) {
  Table options;
  options.set(0, static_cast<int8_t>(padding));
  options.set(1, static_cast<int32_t>(window.stride[1]));
  options.set(2, static_cast<int32_t>(window.stride[0]));
  options.set(3, static_cast<int32_t>(window.filter[1]));
  options.set(4, static_cast<int32_t>(window.filter[0]));
  options.set(5, static_cast<int8_t>(activation));
  return options;
}

Window pool_window(const OperationWriter& w) {
  w.refuse_nchw();
  return window_of(w, {w.integer("filter_height"), w.integer("filter_width")});
}

// Returns for each window how many elements it reads along one axis, padding not counted.
std::vector<float> counts_along(const Window& window, size_t i, int64_t input, int64_t output) {
  std::vector<float> counts;
  for (int64_t place = 0; place < output; ++place) {
    const int64_t begin = place * window.stride[i] - window.before[i];
    const int64_t end = std::min(begin + window.filter[i], input);
    counts.push_back(static_cast<float>(end - std::max<int64_t>(begin, 0)));
  }
  return counts;
}

// Writes an average pool with padding that isn't SAME. LiteRT leaves only SAME's padding out of an average. So the
// average includes the zeros, and is multiplied by the window's size divided by the number of its real elements.
void average_of_padded(Graph& graph, TensorId input, TensorId output, const Window& window, const Dims& in,
                       const Dims& out, int64_t activation) {
  if (!all_fixed(in) || !all_fixed(out)) {
    OperationWriter::refuse("an open size and padding that isn't SAME", "known sizes", "fix the sizes by --input");
  }
  const std::vector<float> rows = counts_along(window, 0, in[1].value(), out[1].value());
  const std::vector<float> columns = counts_along(window, 1, in[2].value(), out[2].value());
  std::vector<float> factors;
  for (const float row : rows) {
    for (const float column : columns) {
      factors.push_back(static_cast<float>(window.filter[0] * window.filter[1]) / (row * column));
    }
  }
  const TensorId with_zeros = padded(graph, input, window);
  const TensorId averages = graph.like(output);
  graph.emit(Builtin::AVERAGE_POOL_2D, {with_zeros}, {averages}, Options::POOL_2D,
             pool_options(window, Padding::VALID, 0));
  const TensorId factor =
      graph.floats(factors, {1, static_cast<int32_t>(rows.size()), static_cast<int32_t>(columns.size()), 1});
  graph.emit(Builtin::MUL, {averages, factor}, {output}, Options::MUL,
             OperationWriter::activation_options(0, activation));
}

// Averages `input` into `output`. Both have one scale if they are quantised.
void write_average(OperationWriter& w, TensorId input, TensorId output, int64_t activation) {
  Graph& graph = w.graph;
  Window window = pool_window(w);
  const Dims &in = w.operand_of("input")->dims, &out = w.output_operand().dims;
  const std::optional<Padding> scheme = find_scheme(window, *w.operand_of("input"), w.output_operand());
  if (scheme) {
    graph.emit(Builtin::AVERAGE_POOL_2D, {input}, {output}, Options::POOL_2D,
               pool_options(window, *scheme, activation));
  } else if (graph.at(input).is_quantised()) {
    const TensorId result = graph.floats_like(output);
    average_of_padded(graph, graph.dequantised(input), result, window, in, out, activation);
    graph.quantise_into(result, output);
  } else {
    average_of_padded(graph, input, output, window, in, out, activation);
  }
}

// Returns whether the operand has no negative numbers, so that zeros as padding don't change a maximum.
bool is_not_negative(const nnapi::Model& model, nnapi::OperandId id) {
  const auto maker = std::find_if(model.operations.begin(), model.operations.end(), [id](const auto& operation) {
    return std::find(operation.outputs.begin(), operation.outputs.end(), id) != operation.outputs.end();
  });
  if (maker == model.operations.end()) return false;
  switch (maker->code) {
    case OperationCode::RELU:
    case OperationCode::RELU6:
    case OperationCode::LOGISTIC:
    case OperationCode::ABS:
      return true;
    case OperationCode::MAX_POOL_2D:
      return is_not_negative(model, maker->inputs[0]);
    default:
      break;
  }
  const SignatureInfo* signature = nnapi::match_signature(model, *maker).signature;
  if (signature == nullptr) return false;
  for (size_t i = 0; i < maker->inputs.size(); ++i) {
    const ArgumentInfo& argument = nnapi::argument_of_input(*signature, i, maker->inputs.size());
    const Dims* value = model.at(maker->inputs[i]).ints();
    if (argument.role != ArgumentRole::kActivation || value == nullptr) continue;
    const auto code = static_cast<FuseCode>(value->at(0).value());
    return code == FuseCode::RELU || code == FuseCode::RELU6;
  }
  return false;
}

// Returns whether the zero point is the lowest number of the tensor's type, so that zeros don't change a maximum.
bool is_lowest_zero(const Tensor& tensor) {
  if (!tensor.is_quantised()) return false;
  return tensor.zero_points[0] == (tensor.type == TensorType::INT8 ? INT8_MIN : 0);
}

void write_resize(OperationWriter& w, Builtin builtin, Options options_type, int first_option) {
  w.refuse_nchw();
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const Dims& dims = w.output_operand().dims;
  const TensorId size = graph.numbers({dims[1], dims[2]});
  Table options;
  options.set(first_option, w.flag("align_corners"), false);
  options.set(first_option + 1, w.flag("half_pixel_centers"), false);
  graph.emit(builtin, {input, size}, {output}, options_type, std::move(options));
}

}  // namespace

void write_average_pool(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const int64_t activation = w.integer("activation");
  const Tensor &from = graph.at(input), &to = graph.at(output);
  if (from.scales == to.scales && from.zero_points == to.zero_points) {
    return write_average(w, input, output, activation);
  }
  const TensorId average = graph.like(input, w.output_operand().dims);
  write_average(w, input, average, activation);
  graph.quantise_into(average, output);
}

void write_max_pool(OperationWriter& w) {
  Graph& graph = w.graph;
  TensorId input = w.tensor("input");
  Window window = pool_window(w);
  const std::optional<Padding> scheme = find_scheme(window, *w.operand_of("input"), w.output_operand());
  if (!scheme) {
    const bool takes_zeros = is_not_negative(graph.model(), w.operation.inputs[0]) || is_lowest_zero(graph.at(input));
    input = takes_zeros ? padded(graph, input, window) : padded_with_lowest(graph, input, window);
  }
  const TensorId output = w.output();
  const TensorId largest = graph.like(input, w.output_operand().dims);
  const bool is_same =
      graph.at(input).scales == graph.at(output).scales && graph.at(input).zero_points == graph.at(output).zero_points;
  graph.emit(Builtin::MAX_POOL_2D, {input}, {is_same ? output : largest}, Options::POOL_2D,
             pool_options(window, scheme.value_or(Padding::VALID), w.integer("activation")));
  if (!is_same) graph.quantise_into(largest, output);
}

// Writes L2_POOL as the root of the average of squares: LiteRT has its operator for CPUs only.
void write_l2_pool(OperationWriter& w) {
  Graph& graph = w.graph;
  const TensorId input = w.tensor("input"), output = w.output();
  const TensorId squares = graph.like(input), averages = graph.like(output);
  graph.emit(Builtin::MUL, {input, input}, {squares}, Options::MUL);
  write_average(w, squares, averages, 0);
  if (w.integer("activation") > static_cast<int64_t>(FuseCode::RELU)) {
    w.refuse("an activation behind the root", "none, or ReLU", "");
  }
  graph.emit(Builtin::SQRT, {averages}, {output});  // never negative: ReLU changes nothing
}

void write_resize_bilinear(OperationWriter& w) {
  write_resize(w, Builtin::RESIZE_BILINEAR, Options::RESIZE_BILINEAR, 2);
}

void write_resize_nearest(OperationWriter& w) {
  write_resize(w, Builtin::RESIZE_NEAREST_NEIGHBOR, Options::RESIZE_NEAREST_NEIGHBOR, 0);
}

}  // namespace nnapi_convert::litert
