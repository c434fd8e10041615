// SPDX-License-Identifier: BSD-3-Clause
#include "tests/litert/format_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/litert/file_reader.h"

namespace nnapi_convert::litert::testing {
namespace {

// The numbers of schema.fbs of google-ai-edge/LiteRT: of an operator, and of its table in the union BuiltinOptions.
struct FormatRow {
  const char* name;
  int code, options, least_inputs, most_inputs;
};

constexpr int kAnyNumber = 1'000'000;

constexpr FormatRow kRows[] = {
    {"ADD", 0, 11, 2, 2},
    {"AVERAGE_POOL_2D", 1, 5, 1, 1},
    {"CONCATENATION", 2, 10, 1, kAnyNumber},
    {"CONV_2D", 3, 1, 3, 3},
    {"DEPTHWISE_CONV_2D", 4, 2, 3, 3},
    {"DEPTH_TO_SPACE", 5, 94, 1, 1},
    {"DEQUANTIZE", 6, 38, 1, 1},
    {"EMBEDDING_LOOKUP", 7, 0, 2, 2},
    {"FLOOR", 8, 0, 1, 1},
    {"FULLY_CONNECTED", 9, 8, 3, 3},
    {"L2_NORMALIZATION", 11, 12, 1, 1},
    {"LOCAL_RESPONSE_NORMALIZATION", 13, 13, 1, 1},
    {"LOGISTIC", 14, 0, 1, 1},
    {"MAX_POOL_2D", 17, 5, 1, 1},
    {"MUL", 18, 21, 2, 2},
    {"RELU", 19, 0, 1, 1},
    {"RELU_N1_TO_1", 20, 0, 1, 1},
    {"RELU6", 21, 0, 1, 1},
    {"RESHAPE", 22, 17, 2, 2},
    {"RESIZE_BILINEAR", 23, 15, 2, 2},
    {"SOFTMAX", 25, 9, 1, 1},
    {"SPACE_TO_DEPTH", 26, 19, 1, 1},
    {"TANH", 28, 0, 1, 1},
    {"PAD", 34, 22, 2, 2},
    {"GATHER", 36, 23, 2, 2},
    {"BATCH_TO_SPACE_ND", 37, 24, 3, 3},
    {"SPACE_TO_BATCH_ND", 38, 25, 3, 3},
    {"TRANSPOSE", 39, 26, 2, 2},
    {"MEAN", 40, 27, 2, 2},
    {"SUB", 41, 28, 2, 2},
    {"DIV", 42, 29, 2, 2},
    {"STRIDED_SLICE", 45, 32, 4, 4},
    {"EXP", 47, 33, 1, 1},
    {"TOPK_V2", 48, 34, 2, 2},
    {"SPLIT", 49, 35, 2, 2},
    {"LOG_SOFTMAX", 50, 36, 1, 1},
    {"CAST", 53, 37, 1, 1},
    {"PRELU", 54, 0, 2, 2},
    {"MAXIMUM", 55, 39, 2, 2},
    {"ARG_MAX", 56, 40, 2, 2},
    {"MINIMUM", 57, 39, 2, 2},
    {"LESS", 58, 41, 2, 2},
    {"NEG", 59, 42, 1, 1},
    {"PADV2", 60, 43, 3, 3},
    {"GREATER", 61, 44, 2, 2},
    {"GREATER_EQUAL", 62, 45, 2, 2},
    {"LESS_EQUAL", 63, 46, 2, 2},
    {"SELECT", 64, 47, 3, 3},
    {"SLICE", 65, 48, 3, 3},
    {"SIN", 66, 0, 1, 1},
    {"TRANSPOSE_CONV", 67, 49, 3, 4},
    {"TILE", 69, 51, 2, 2},
    {"EQUAL", 71, 53, 2, 2},
    {"NOT_EQUAL", 72, 54, 2, 2},
    {"LOG", 73, 0, 1, 1},
    {"SUM", 74, 27, 2, 2},
    {"SQRT", 75, 0, 1, 1},
    {"RSQRT", 76, 0, 1, 1},
    {"POW", 78, 56, 2, 2},
    {"ARG_MIN", 79, 57, 2, 2},
    {"REDUCE_PROD", 81, 27, 2, 2},
    {"REDUCE_MAX", 82, 27, 2, 2},
    {"SHAPE", 77, 55, 1, 1},
    {"PACK", 83, 59, 1, kAnyNumber},
    {"LOGICAL_OR", 84, 60, 2, 2},
    {"LOGICAL_AND", 86, 62, 2, 2},
    {"LOGICAL_NOT", 87, 63, 1, 1},
    {"REDUCE_MIN", 89, 27, 2, 2},
    {"FLOOR_DIV", 90, 0, 2, 2},
    {"REDUCE_ANY", 91, 27, 2, 2},
    {"FILL", 94, 68, 2, 2},
    {"RESIZE_NEAREST_NEIGHBOR", 97, 74, 2, 2},
    {"LEAKY_RELU", 98, 75, 1, 1},
    {"SQUARED_DIFFERENCE", 99, 76, 2, 2},
    {"MIRROR_PAD", 100, 77, 2, 2},
    {"ABS", 101, 78, 1, 1},
    {"REVERSE_V2", 105, 81, 2, 2},
    {"ELU", 111, 0, 1, 1},
    {"QUANTIZE", 114, 89, 1, 1},
    {"HARD_SWISH", 117, 91, 1, 1},
    {"IF", 118, 92, 1, kAnyNumber},
    {"WHILE", 119, 93, 0, kAnyNumber},
    {"SELECT_V2", 123, 98, 3, 3},
    {"BATCH_MATMUL", 126, 101, 2, 2},
    {"REDUCE_ALL", 140, 27, 2, 2},
};

const FormatRow* row_of(const std::string& name) {
  for (const FormatRow& row : kRows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

// Operators with several outputs.
size_t outputs_of(const ReadOperator& each) {
  if (each.name == "TOPK_V2") return 2;
  return each.name == "SPLIT" || each.name == "IF" || each.name == "WHILE" ? each.outputs.size() : 1;
}

std::string option(const ReadOperator& each, const std::string& name, const std::string& value_if_absent = "") {
  for (const auto& [key, value] : each.options) {
    if (key == name) return value;
  }
  return value_if_absent;
}

int64_t number(const ReadOperator& each, const std::string& name, const std::string& value_if_absent = "0") {
  return std::stoll(option(each, name, value_if_absent));
}

// "[1, 2]" as numbers.
std::vector<int64_t> numbers_in(const std::string& text) {
  std::vector<int64_t> numbers;
  size_t place = 1;
  while (place < text.size() && text[place] != ']') {
    size_t used = 0;
    numbers.push_back(std::stoll(text.substr(place), &used));
    place += used;
    while (place < text.size() && (text[place] == ',' || text[place] == ' ')) ++place;
  }
  return numbers;
}

int64_t product(const std::vector<int32_t>& shape) {
  int64_t result = 1;
  for (const int32_t size : shape) result *= size;
  return result;
}

class FormatChecker {
 public:
  explicit FormatChecker(std::string_view bytes) : file_(read_file(bytes, "the file")) {}

  std::vector<std::string> run() {
    for (const ReadSubgraph& subgraph : file_.subgraphs) check(subgraph);
    std::set<std::string> keys;
    for (const ReadSignature& signature : file_.signatures) {
      place_ = signature.key;
      if (!keys.insert(signature.key).second) problem("another signature has the same key");
      if (signature.subgraph >= file_.subgraphs.size()) {
        problem("there is no such subgraph");
        continue;
      }
      const ReadSubgraph& subgraph = file_.subgraphs[signature.subgraph];
      check_ports(signature.inputs, subgraph.inputs, subgraph);
      check_ports(signature.outputs, subgraph.outputs, subgraph);
    }
    return std::move(problems_);
  }

 private:
  void problem(const std::string& text) { problems_.push_back(place_ + ": " + text); }

  // LiteRT refuses a signature that leaves out an input or an output.
  void check_ports(const std::vector<ReadPort>& ports, const std::vector<int32_t>& tensors,
                   const ReadSubgraph& subgraph) {
    std::set<std::string> names;
    std::vector<int32_t> found;
    for (const ReadPort& port : ports) {
      found.push_back(static_cast<int32_t>(port.tensor));
      if (!names.insert(port.name).second) problem("two ports are named " + port.name);
      if (port.tensor < subgraph.tensors.size() && subgraph.tensors[port.tensor].name != port.name) {
        problem(fmt::format("the tensor of port {} is named {}", port.name, subgraph.tensors[port.tensor].name));
      }
    }
    if (found != tensors) problem("its ports aren't those of the subgraph");
  }

  void check(const ReadSubgraph& subgraph) {
    subgraph_ = &subgraph;
    std::set<int32_t> known(subgraph.inputs.begin(), subgraph.inputs.end());
    for (size_t i = 0; i < subgraph.tensors.size(); ++i) {
      check(subgraph.tensors[i]);
      if (subgraph.tensors[i].constant_bytes > 0) known.insert(static_cast<int32_t>(i));
    }
    for (const ReadOperator& each : subgraph.operators) {
      const bool has_result = !each.outputs.empty() && each.outputs[0] >= 0;
      place_ = (has_result ? tensor(each.outputs[0]).name : "") + " " + each.name;
      for (const int32_t input : each.inputs) {
        if (input >= 0 && known.count(input) == 0) problem(fmt::format("it reads %{} before it is there", input));
      }
      for (const int32_t output : each.outputs) {
        if (output >= 0 && !known.insert(output).second) problem(fmt::format("%{} is written twice", output));
      }
      check(each);
    }
    place_ = subgraph.name;
    for (const int32_t output : subgraph.outputs) {
      if (known.count(output) == 0) problem(fmt::format("nothing writes the output %{}", output));
    }
  }

  void check(const ReadTensor& one) {
    place_ = one.name;
    if (!one.has_rank) problem("its rank isn't said to be known");
    if (one.constant_bytes == 0) return;
    const int64_t bytes = product(one.shape) * bytes_of(one.type);
    if (bytes != static_cast<int64_t>(one.constant_bytes)) {
      problem(fmt::format("{} bytes of {} [{}]", one.constant_bytes, one.type, fmt::join(one.shape, ", ")));
    }
    if (one.constant_begin % 16 != 0) problem("its data aren't aligned");
  }

  static int64_t bytes_of(const std::string& type) {
    if (type == "int8" || type == "uint8" || type == "bool") return 1;
    return type == "float16" ? 2 : 4;
  }

  const ReadTensor& tensor(int32_t id) const { return subgraph_->tensors[static_cast<size_t>(id)]; }
  const ReadTensor& input(const ReadOperator& each, size_t index) const { return tensor(each.inputs[index]); }
  const ReadTensor& output(const ReadOperator& each) const { return tensor(each.outputs[0]); }

  void check(const ReadOperator& each) {
    const FormatRow* row = row_of(each.name);
    if (row == nullptr) return problem("no row for it: add one");
    if (each.code != row->code) problem(fmt::format("its number is {}, and {} in the format", each.code, row->code));
    if (each.old_code != std::min(row->code, 127)) problem(fmt::format("its old number is {}", each.old_code));
    if (each.options_table != row->options) {
      problem(fmt::format("its options are of table {}, and {} in the format", each.options_table, row->options));
    }
    const auto inputs = static_cast<int>(each.inputs.size());
    if (inputs < row->least_inputs || inputs > row->most_inputs) return problem(fmt::format("{} inputs", inputs));
    if (each.outputs.size() != outputs_of(each)) return problem(fmt::format("{} outputs", each.outputs.size()));
    if (has_open_size(each)) return;
    if (each.name == "CONV_2D" || each.name == "DEPTHWISE_CONV_2D") check_convolution(each);
    if (each.name == "MAX_POOL_2D" || each.name == "AVERAGE_POOL_2D") check_pool(each);
    if (each.name == "FULLY_CONNECTED") check_fully_connected(each);
    if (each.name == "CONCATENATION") check_concatenation(each);
    if (each.name == "RESHAPE") check_reshape(each);
    if (each.name == "TRANSPOSE") check_transpose(each);
    if (each.name == "PACK") check_pack(each);
    if (each.name == "SPLIT") check_split(each);
    if (each.name == "CAST") check_cast(each);
  }

  bool has_open_size(const ReadOperator& each) const {
    const auto is_open = [this](int32_t id) { return id >= 0 && !tensor(id).signature.empty(); };
    return std::any_of(each.inputs.begin(), each.inputs.end(), is_open) ||
           std::any_of(each.outputs.begin(), each.outputs.end(), is_open);
  }

  void check_window(const ReadOperator& each, size_t axis, int64_t filter, const std::string& suffix) {
    const int64_t in = input(each, 0).shape[axis], found = output(each).shape[axis];
    const int64_t stride = number(each, "stride_" + suffix), dilation = number(each, "dilation_" + suffix, "1");
    if (stride <= 0 || dilation <= 0 || filter <= 0) return problem("a stride, dilation or filter of 0");
    const int64_t reach = (filter - 1) * dilation + 1;
    const bool is_same = option(each, "padding") == "SAME";
    const int64_t needed = is_same ? (in + stride - 1) / stride : (in - reach) / stride + 1;
    if (found != needed) problem(fmt::format("axis {} has {} windows, and {} are needed", axis, found, needed));
  }

  void check_convolution(const ReadOperator& each) {
    const std::vector<int32_t>&filter = input(each, 1).shape, &bias = input(each, 2).shape;
    check_window(each, 1, filter[1], "h");
    check_window(each, 2, filter[2], "w");
    const int32_t channels = output(each).shape[3], read = input(each, 0).shape[3];
    const bool is_depthwise = each.name == "DEPTHWISE_CONV_2D";
    if (filter[is_depthwise ? 3 : 0] != channels) problem("the filter has another number of channels than the result");
    if (bias != std::vector<int32_t>{channels}) problem("the bias has another number of channels than the result");
    if (is_depthwise && number(each, "depth_multiplier") * read != channels) problem("a wrong depth_multiplier");
    if (!is_depthwise && read % filter[3] != 0) problem("the filter's depth doesn't divide the input's");
  }

  void check_pool(const ReadOperator& each) {
    check_window(each, 1, number(each, "filter_h"), "h");
    check_window(each, 2, number(each, "filter_w"), "w");
  }

  // LiteRT's GPU accelerator takes no input that the CPU's kernels would flatten.
  void check_fully_connected(const ReadOperator& each) {
    const std::vector<int32_t>&weights = input(each, 1).shape, &in = input(each, 0).shape;
    if (in.empty() || in.back() != weights[1]) problem("the input's last axis isn't the weights' width");
    if (output(each).shape != std::vector<int32_t>{static_cast<int32_t>(product(in) / weights[1]), weights[0]}) {
      problem("the result isn't [rows, weights]");
    }
  }

  void check_concatenation(const ReadOperator& each) {
    const auto axis = static_cast<size_t>(number(each, "axis"));
    std::vector<int32_t> sum = input(each, 0).shape;
    if (axis >= sum.size()) return problem("the axis is outside");
    for (size_t i = 1; i < each.inputs.size(); ++i) sum[axis] += input(each, i).shape[axis];
    if (sum != output(each).shape) problem("the result isn't as large as its parts along the axis");
  }

  void check_reshape(const ReadOperator& each) {
    const ReadTensor& result = output(each);
    if (product(result.shape) != product(input(each, 0).shape)) problem("it has another number of elements");
    const std::string shape = fmt::format("[{}]", fmt::join(result.shape, ", "));
    if (option(each, "new_shape") != shape) problem("the option new_shape isn't the result's");
    if (!result.shape.empty() && input(each, 1).value != shape) problem("the input shape isn't the result's");
  }

  void check_transpose(const ReadOperator& each) {
    const std::vector<int64_t> perm = numbers_in(input(each, 1).value);
    const std::vector<int32_t>&in = input(each, 0).shape, &out = output(each).shape;
    if (perm.size() != in.size() || out.size() != in.size()) return problem("perm has another rank");
    for (size_t i = 0; i < perm.size(); ++i) {
      if (in.at(static_cast<size_t>(perm[i])) != out[i]) return problem("the result isn't turned as perm says");
    }
  }

  void check_pack(const ReadOperator& each) {
    if (number(each, "values_count") != static_cast<int64_t>(each.inputs.size())) problem("a wrong values_count");
    std::vector<int32_t> shape = input(each, 0).shape;
    const int64_t axis = number(each, "axis");
    if (axis < 0 || axis > static_cast<int64_t>(shape.size())) return problem("the axis is outside");
    shape.insert(shape.begin() + axis, static_cast<int32_t>(each.inputs.size()));
    if (shape != output(each).shape) problem("the result isn't packed along the axis");
  }

  void check_split(const ReadOperator& each) {
    if (number(each, "num_splits") != static_cast<int64_t>(each.outputs.size())) problem("a wrong num_splits");
    const std::vector<int64_t> axis = numbers_in(input(each, 0).value);
    std::vector<int32_t> sum = output(each).shape;
    if (axis.size() != 1 || axis[0] < 0 || axis[0] >= static_cast<int64_t>(sum.size())) return problem("no axis");
    sum[static_cast<size_t>(axis[0])] *= static_cast<int32_t>(each.outputs.size());
    if (sum != input(each, 1).shape) problem("its results aren't the input's parts along the axis");
  }

  void check_cast(const ReadOperator& each) {
    if (option(each, "in") != input(each, 0).type || option(each, "out") != output(each).type) {
      problem("its options name other types");
    }
  }

  ReadFile file_;
  const ReadSubgraph* subgraph_ = nullptr;
  std::string place_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> format_problems(std::string_view file) {
  return FormatChecker(file).run();
}

}  // namespace nnapi_convert::litert::testing
