// SPDX-License-Identifier: BSD-3-Clause
#include "tests/litert/quantisation_rules.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "lib/litert/file_reader.h"

namespace nnapi_convert::litert::testing {
namespace {

enum class Kind {
  kFree,      // each tensor has a scale of its own
  kTied,      // inputs and outputs have one scale and zero point
  kFixed,     // the output's scale and zero point are given
  kWeighted,  // weights, and a bias with the products' scale
  kRaw,       // the numbers themselves, whatever their scale
};

struct Rule {
  const char* name;
  Kind kind = Kind::kFree;
  double scale = 0;    // of kFixed
  int zero_point = 0;  // of kFixed, of int8; 128 more of uint8
  // Of kWeighted: the numbers of its inputs, and the axis along which weights may have several scales; -1: none.
  int input = 0, weights = 1, bias = 2, axis = -1;
  bool has_uint8 = true;        // a kernel for uint8
  bool rescales_uint8 = false;  // of kTied: uint8 inputs may have scales of their own
};

constexpr Rule free_scales(const char* name, bool has_uint8 = true) {
  return {name, Kind::kFree, 0, 0, 0, 1, 2, -1, has_uint8};
}
constexpr Rule one_scale(const char* name, bool rescales_uint8 = false) {
  return {name, Kind::kTied, 0, 0, 0, 1, 2, -1, true, rescales_uint8};
}
constexpr Rule given_scale(const char* name, double scale, int zero_point) {
  return {name, Kind::kFixed, scale, zero_point};
}
constexpr Rule with_weights(const char* name, int axis, int input, int weights, int bias) {
  return {name, Kind::kWeighted, 0, 0, input, weights, bias, axis};
}

constexpr Rule kRules[] = {
    // As the specification has them.
    free_scales("ADD"),
    one_scale("AVERAGE_POOL_2D"),
    one_scale("CONCATENATION", true),
    with_weights("CONV_2D", 0, 0, 1, 2),
    with_weights("DEPTHWISE_CONV_2D", 3, 0, 1, 2),
    with_weights("FULLY_CONNECTED", -1, 0, 1, 2),
    given_scale("L2_NORMALIZATION", 1.0 / 128, 0),
    given_scale("LOGISTIC", 1.0 / 256, -128),
    one_scale("MAX_POOL_2D"),
    free_scales("MUL"),
    one_scale("RESHAPE"),
    one_scale("RESIZE_BILINEAR"),
    given_scale("SOFTMAX", 1.0 / 256, -128),
    one_scale("SPACE_TO_DEPTH"),
    given_scale("TANH", 1.0 / 128, 0),
    one_scale("PAD"),
    one_scale("GATHER"),
    one_scale("BATCH_TO_SPACE_ND"),
    one_scale("SPACE_TO_BATCH_ND"),
    one_scale("TRANSPOSE"),
    free_scales("MEAN"),
    free_scales("SUB"),
    one_scale("SQUEEZE"),
    given_scale("LOG_SOFTMAX", 16.0 / 256, 127),
    one_scale("MAXIMUM"),
    free_scales("ARG_MAX"),
    one_scale("MINIMUM"),
    free_scales("LESS"),
    one_scale("PADV2"),
    free_scales("GREATER"),
    free_scales("GREATER_EQUAL"),
    free_scales("LESS_EQUAL"),
    one_scale("SLICE"),
    free_scales("EQUAL"),
    free_scales("NOT_EQUAL"),
    free_scales("SHAPE"),
    free_scales("QUANTIZE"),
    // As the kernels have them.
    free_scales("DEQUANTIZE"),
    with_weights("TRANSPOSE_CONV", 0, 2, 1, 3),
    free_scales("ARG_MIN"),
    free_scales("BATCH_MATMUL", false),
    {"CAST", Kind::kRaw},
    one_scale("DEPTH_TO_SPACE"),
    free_scales("HARD_SWISH"),
    free_scales("LEAKY_RELU"),
    one_scale("MIRROR_PAD"),
    one_scale("PACK"),
    free_scales("PRELU"),
    one_scale("REDUCE_MAX"),
    one_scale("REDUCE_MIN"),
    free_scales("RELU"),
    free_scales("RELU6"),
    free_scales("RELU_N1_TO_1"),
    one_scale("RESIZE_NEAREST_NEIGHBOR"),
    one_scale("REVERSE_V2"),
    free_scales("RSQRT", false),
    one_scale("SELECT"),
    one_scale("SELECT_V2"),
    one_scale("SPLIT"),
    one_scale("STRIDED_SLICE"),
    free_scales("SUM"),
    one_scale("TILE"),
    one_scale("TOPK_V2"),
    {"IF", Kind::kRaw},
    {"WHILE", Kind::kRaw},
};

const Rule* rule_of(const std::string& name) {
  for (const Rule& rule : kRules) {
    if (name == rule.name) return &rule;
  }
  return nullptr;
}

bool is_8_bit(const ReadTensor& tensor) {
  return tensor.type == "int8" || tensor.type == "uint8";
}

bool is_constant(const ReadTensor& tensor) {
  return tensor.constant_bytes > 0;
}

class QuantisationChecker {
 public:
  explicit QuantisationChecker(std::string_view bytes) : bytes_(bytes), file_(read_file(bytes, "the file")) {}

  std::vector<std::string> run() {
    for (const ReadSubgraph& subgraph : file_.subgraphs) {
      subgraph_ = &subgraph;
      for (const ReadOperator& each : subgraph.operators) check(each);
    }
    return std::move(problems_);
  }

 private:
  void problem(const std::string& text) {
    problems_.push_back(fmt::format("{} {}: {}", *place_, operator_->name, text));
  }

  const ReadTensor* tensor(const std::vector<int32_t>& numbers, int index) const {
    const auto place = static_cast<size_t>(index);
    if (index < 0 || place >= numbers.size() || numbers[place] < 0) return nullptr;
    return &subgraph_->tensors[static_cast<size_t>(numbers[place])];
  }

  std::vector<const ReadTensor*> tensors_of_8_bits(const std::vector<int32_t>& numbers) const {
    std::vector<const ReadTensor*> found;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const ReadTensor* each = tensor(numbers, static_cast<int>(i));
      if (each != nullptr && is_8_bit(*each)) found.push_back(each);
    }
    return found;
  }

  void check(const ReadOperator& each) {
    operator_ = &each;
    const ReadTensor* result = tensor(each.outputs, 0);
    const std::string place = result == nullptr ? "" : result->name;
    place_ = &place;
    check_others(each);
    std::vector<const ReadTensor*> inputs = tensors_of_8_bits(each.inputs), outputs = tensors_of_8_bits(each.outputs);
    std::vector<const ReadTensor*> all = inputs;
    all.insert(all.end(), outputs.begin(), outputs.end());
    if (all.empty()) return;
    const Rule* rule = rule_of(each.name);
    if (rule == nullptr) return problem("it has 8 bit tensors, and no rule for them: add one");
    if (rule->kind == Kind::kRaw) return;
    for (const ReadTensor* one : all) check_scales(*rule, *one);
    check_types(*rule, all);
    if (rule->kind == Kind::kTied) check_tied(*rule, all);
    if (rule->kind == Kind::kFixed) check_fixed(*rule, outputs);
    if (rule->kind == Kind::kWeighted) check_weighted(*rule, each);
  }

  // Tensors that are no 8 bit numbers have no scale, but for a bias.
  void check_others(const ReadOperator& each) {
    const Rule* rule = rule_of(each.name);
    for (const std::vector<int32_t>* numbers : {&each.inputs, &each.outputs}) {
      for (size_t i = 0; i < numbers->size(); ++i) {
        const ReadTensor* one = tensor(*numbers, static_cast<int>(i));
        if (one == nullptr || is_8_bit(*one) || one->scales.empty()) continue;
        const bool is_bias = numbers == &each.inputs && rule != nullptr && rule->kind == Kind::kWeighted &&
                             static_cast<int>(i) == rule->bias && one->type == "int32";
        if (!is_bias) problem(fmt::format("{}, {}, has a scale", one->name, one->type));
      }
    }
  }

  bool may_have_channels(const Rule& rule, const ReadTensor& one) const {
    if (operator_->name == std::string("DEQUANTIZE")) return &one == tensor(operator_->inputs, 0);
    return rule.kind == Kind::kWeighted && rule.axis >= 0 && &one == tensor(operator_->inputs, rule.weights) &&
           one.type == "int8";
  }

  void check_scales(const Rule& rule, const ReadTensor& one) {
    if (one.scales.empty() || one.scales.size() != one.zero_points.size()) {
      return problem(
          fmt::format("{} has {} scales and {} zero points", one.name, one.scales.size(), one.zero_points.size()));
    }
    const int64_t lowest = one.type == "int8" ? -128 : 0;
    for (size_t i = 0; i < one.scales.size(); ++i) {
      if (!(one.scales[i] > 0) || !std::isfinite(one.scales[i])) {
        problem(fmt::format("{} has the scale {}", one.name, one.scales[i]));
      }
      if (one.zero_points[i] < lowest || one.zero_points[i] > lowest + 255) {
        problem(fmt::format("{}, {}, has the zero point {}", one.name, one.type, one.zero_points[i]));
      }
    }
    if (one.scales.size() == 1) return;
    if (!may_have_channels(rule, one)) return problem(fmt::format("{} has {} scales", one.name, one.scales.size()));
    const auto axis = static_cast<size_t>(one.channel_axis);
    if (axis >= one.shape.size() || static_cast<size_t>(one.shape[axis]) != one.scales.size()) {
      problem(fmt::format("{} has {} scales along axis {} of [{}]", one.name, one.scales.size(), axis,
                          fmt::join(one.shape, ", ")));
    }
  }

  void check_types(const Rule& rule, const std::vector<const ReadTensor*>& all) {
    const bool moves_type = operator_->name == "QUANTIZE" || operator_->name == "DEQUANTIZE";
    for (const ReadTensor* one : all) {
      if (!rule.has_uint8 && one->type == "uint8") problem(fmt::format("{} is uint8, which has no kernel", one->name));
      if (!moves_type && one->type != all[0]->type) {
        problem(fmt::format("{} is {}, and {} is {}", one->name, one->type, all[0]->name, all[0]->type));
      }
    }
  }

  void check_tied(const Rule& rule, const std::vector<const ReadTensor*>& all) {
    if (rule.rescales_uint8 && all[0]->type == "uint8") return;
    for (const ReadTensor* one : all) {
      if (one->scales == all[0]->scales && one->zero_points == all[0]->zero_points) continue;
      problem(fmt::format("{} and {} have other scales or zero points, and need the same", one->name, all[0]->name));
    }
  }

  void check_fixed(const Rule& rule, const std::vector<const ReadTensor*>& outputs) {
    for (const ReadTensor* one : outputs) {
      const int zero_point = rule.zero_point + (one->type == "uint8" ? 128 : 0);
      const bool is_right = one->scales.size() == 1 && one->scales[0] == static_cast<float>(rule.scale) &&
                            one->zero_points == std::vector<int64_t>{zero_point};
      if (!is_right) problem(fmt::format("{} needs the scale {} and zero point {}", one->name, rule.scale, zero_point));
    }
  }

  void check_weighted(const Rule& rule, const ReadOperator& each) {
    const ReadTensor* input = tensor(each.inputs, rule.input);
    const ReadTensor* weights = tensor(each.inputs, rule.weights);
    const ReadTensor* result = tensor(each.outputs, 0);
    if (input == nullptr || weights == nullptr || result == nullptr) return problem("a tensor is missing");
    for (const ReadTensor* one : {input, weights, result}) {
      if (!is_8_bit(*one)) problem(fmt::format("{} is {} beside 8 bit tensors", one->name, one->type));
    }
    if (!is_8_bit(*input) || !is_8_bit(*weights)) return;
    if (weights->type == "int8") check_symmetric(rule, *weights);
    if (const ReadTensor* bias = tensor(each.inputs, rule.bias)) check_bias(*input, *weights, *bias);
  }

  // int8 weights are from -127 to 127 around 0.
  void check_symmetric(const Rule& rule, const ReadTensor& weights) {
    for (const int64_t zero_point : weights.zero_points) {
      if (zero_point != 0)
        return problem(fmt::format("the weights {} have the zero point {}", weights.name, zero_point));
    }
    if (weights.scales.size() > 1 && weights.channel_axis != rule.axis) {
      problem(fmt::format("the weights {} have scales along axis {}", weights.name, weights.channel_axis));
    }
    if (!is_constant(weights)) return;
    const std::string_view data = bytes_.substr(weights.constant_begin, weights.constant_bytes);
    for (const char number : data) {
      if (static_cast<int8_t>(number) == INT8_MIN)
        return problem(fmt::format("the weights {} hold -128", weights.name));
    }
  }

  void check_bias(const ReadTensor& input, const ReadTensor& weights, const ReadTensor& bias) {
    if (bias.type != "int32") return problem(fmt::format("the bias {} is {}", bias.name, bias.type));
    if (bias.scales.size() != weights.scales.size() || bias.zero_points.size() != bias.scales.size()) {
      return problem(fmt::format("the bias {} has {} scales, and the weights {}", bias.name, bias.scales.size(),
                                 weights.scales.size()));
    }
    if (bias.scales.size() > 1 && bias.channel_axis != 0) problem(fmt::format("the bias {} has an axis", bias.name));
    for (size_t i = 0; i < bias.scales.size(); ++i) {
      if (bias.zero_points[i] != 0) return problem(fmt::format("the bias {} has a zero point", bias.name));
      if (bias.scales[i] == input.scales[0] * weights.scales[i]) continue;
      return problem(fmt::format("the bias {} has the scale {} for the product {}", bias.name, bias.scales[i],
                                 input.scales[0] * weights.scales[i]));
    }
  }

  std::string_view bytes_;
  ReadFile file_;
  const ReadSubgraph* subgraph_ = nullptr;
  const ReadOperator* operator_ = nullptr;
  const std::string* place_ = nullptr;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> quantisation_problems(std::string_view file) {
  return QuantisationChecker(file).run();
}

}  // namespace nnapi_convert::litert::testing
