// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/border_samples.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "lib/converter/graph/node_reads.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

// Returns whole numbers around `middle`, in turn below and above it, each followed by its negative. After 4,096 numbers
// they repeat.
at::Tensor around(const at::Tensor& like, int64_t middle, int64_t least, int64_t greatest) {
  const at::Tensor step = at::arange(like.numel(), at::TensorOptions(at::kLong)).remainder(4096);
  const at::Tensor offset = at::where(step.remainder(4).lt(2), step.div(4, "floor"), step.div(4, "floor").add(1).neg());
  const at::Tensor sign = step.remainder(2).mul(-2).add(1);
  return offset.add(middle).mul(sign).clamp(least, greatest).reshape(like.sizes()).to(like.scalar_type());
}

// Returns the least and the greatest number in turn.
at::Tensor extremes(const at::Tensor& like, double least, double greatest) {
  const at::Tensor is_odd = at::arange(like.numel(), at::TensorOptions(at::kLong)).remainder(2).reshape(like.sizes());
  return at::where(is_odd.eq(1), at::full_like(is_odd, greatest, at::kDouble),
                   at::full_like(is_odd, least, at::kDouble))
      .to(like.scalar_type());
}

// Returns numbers from 1e-8 to 1e4, of both signs; elements 1 and 2 are the two zeros. No other two are the same.
at::Tensor tiny_and_large(const at::Tensor& like) {
  const double count = static_cast<double>(std::max<int64_t>(1, like.numel()));
  const at::Tensor number = at::arange(like.numel(), at::TensorOptions(at::kDouble));
  // Neighbours are far from each other: each is 0.618 of the whole way further.
  const at::Tensor part = number.mul(0.6180339887498949).frac();
  const at::Tensor size = at::pow(at::scalar_tensor(10.0, at::TensorOptions(at::kDouble)), part.mul(12).sub(8));
  at::Tensor values = size.mul(number.remainder(2).mul(-2).add(1)).add(number.mul(1e-12 / count));
  if (values.numel() > 3) values[1] = 0.0, values[2] = -0.0;
  return values.reshape(like.sizes()).to(like.scalar_type());
}

// Returns numbers from -9 to 9, and no whole ones: a sum of their fractions is above 1.
at::Tensor between_wholes(const at::Tensor& like) {
  const at::Tensor number = at::arange(like.numel(), at::TensorOptions(at::kLong));
  const at::Tensor fraction = number.remainder(3).mul(0.1).add(0.6);
  const at::Tensor sign = number.remainder(5).eq(4).to(at::kLong).mul(-2).add(1);
  return number.mul(7).remainder(8).add(fraction).mul(sign).reshape(like.sizes()).to(like.scalar_type());
}

at::Tensor with_infinite(const at::Tensor& like) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {kInfinite, std::nanf(""), -kInfinite, 3e38F, -3e38F, 1e-40F, -std::nanf("")};
  at::Tensor flat = like.clone().reshape({-1});
  for (int64_t i = 0; i < std::min<int64_t>(flat.numel(), static_cast<int64_t>(values.size())); ++i) {
    flat[i] = values[static_cast<size_t>(i)];
  }
  return flat.reshape(like.sizes());
}

bool is_large_integer(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kInt || tensor.scalar_type() == at::kLong;
}

// Returns the changed tensor; nothing for a tensor that the sample doesn't change.
using Change = std::function<std::optional<at::Tensor>(const at::Tensor&)>;

// Leaves out the least int32: PyTorch's process ends where it is divided by -1.
constexpr int64_t kLeastInt32 = int64_t{std::numeric_limits<int32_t>::min()} + 1;

std::optional<at::Tensor> near_float_border(const at::Tensor& tensor) {
  if (!is_large_integer(tensor)) return std::nullopt;
  return around(tensor, 1LL << 24, kLeastInt32, std::numeric_limits<int32_t>::max());
}

std::optional<at::Tensor> near_int_border(const at::Tensor& tensor) {
  if (!is_large_integer(tensor)) return std::nullopt;
  return around(tensor, 1LL << 31, kLeastInt32, std::numeric_limits<int32_t>::max());
}

std::optional<at::Tensor> beyond_int(const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kLong) return std::nullopt;
  return around(tensor, 1LL << 40, -(1LL << 42), 1LL << 42);
}

std::optional<at::Tensor> least_and_largest(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kByte) return extremes(tensor, 0, 255);
  if (tensor.scalar_type() == at::kChar) return extremes(tensor, -128, 127);
  if (tensor.scalar_type() == at::kShort) return extremes(tensor, -32768, 32767);
  if (tensor.scalar_type() == at::kBool) return extremes(tensor, 0, 1);
  return std::nullopt;
}

std::optional<at::Tensor> small_and_large_floats(const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kFloat) return std::nullopt;
  return tiny_and_large(tensor);
}

std::optional<at::Tensor> fractions(const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kFloat) return std::nullopt;
  return between_wholes(tensor);
}

std::optional<at::Tensor> infinite_floats(const at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kFloat) return std::nullopt;
  return with_infinite(tensor);
}

struct Border {
  const char* name;
  std::optional<at::Tensor> (*change)(const at::Tensor&);
  bool is_wide, is_infinite, is_float;
};

constexpr Border kBorders[] = {
    {"whole numbers near 2^24", near_float_border, false, false, false},
    {"whole numbers near 2^31", near_int_border, false, false, false},
    {"whole numbers beyond 32 bits", beyond_int, true, false, false},
    {"the least and the largest numbers of their dtype", least_and_largest, false, false, false},
    {"floats from 1e-8 to 1e4, and both zeros", small_and_large_floats, false, false, true},
    {"infinite floats and NaN", infinite_floats, false, true, true},
    {"fractions between whole numbers", fractions, false, false, true},
};

// True for a loop whose condition values decide. A loop over a range or a list has a condition that is always true.
bool is_loop_by_values(const torch::jit::Node& node) {
  return node.kind() == c10::prim::Loop && !torch::jit::toIValue(node.blocks()[0]->outputs()[0]);
}

// True for a number that a trace made of sizes and constants.
bool is_of_sizes(const torch::jit::Value* value) {
  const torch::jit::Node& node = *value->node();
  if (node.kind() == c10::prim::Constant || node.kind() == c10::prim::NumToTensor) return true;
  const auto inputs = node.inputs();
  return !inputs.empty() && node.blocks().empty() && std::all_of(inputs.begin(), inputs.end(), is_of_sizes);
}

bool makes_sizes_of_values(const torch::jit::Node& node) {
  if (find_traits(node).has(Fact::kCountsByValues)) return true;
  const bool gives_number = node.outputs().size() == 1 && node.output()->type()->kind() != c10::TypeKind::BoolType;
  return gives_number && reads_values(node) && !is_of_sizes(node.input(0));
}

bool is_known_operator(const torch::jit::Node& node) {
  const std::string space = node.kind().ns().toUnqualString();
  return space == "aten" || space == "prim" || space == "quantized" || space == "prims";
}

bool sums_products(const torch::jit::Node& node) {
  const OpTraits& traits = find_traits(node);
  return traits.multiplies() || traits.has(Fact::kSumsProducts);
}

// True for an operator that makes integers of a tensor's numbers.
bool makes_integers(const torch::jit::Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  const auto place = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName("dtype");
  if (!place || node.input(0)->type()->kind() != c10::TypeKind::TensorType) return false;
  const auto dtype = torch::jit::toIValue(node.input(static_cast<size_t>(*place)));
  return dtype && dtype->isInt() && c10::isIntegralType(static_cast<at::ScalarType>(dtype->toInt()), true);
}

bool orders_numbers(const torch::jit::Node& node) {
  static const std::set<std::string> operators = {"aten::argmax", "aten::argmin",    "aten::argsort", "aten::kthvalue",
                                                  "aten::median", "aten::nanmedian", "aten::mode",    "aten::msort",
                                                  "aten::sort",   "aten::topk"};
  return operators.count(node.kind().toQualString()) != 0;
}

// True for NMS, which keeps boxes in the order of their scores.
bool keeps_boxes(const torch::jit::Node& node) {
  return std::string(node.kind().toUnqualString()) == "nms";
}

}  // namespace

std::vector<BorderSample> border_samples(const Values& ordinary, const BorderLimits& limits) {
  std::vector<BorderSample> samples;
  if (limits.is_driven_by_values) return samples;
  for (const Border& border : kBorders) {
    if (border.is_infinite && (limits.sums_products || limits.quantises_floats)) continue;
    if (border.change == fractions && !limits.makes_integers) continue;
    bool any = false;
    BorderSample sample{border.name, {}, border.is_wide, border.is_infinite, border.is_float};
    sample.values = with_tensors(ordinary, [&](size_t number, const at::Tensor& tensor) {
      if (tensor.numel() == 0 || limits.takes_indices.at(number)) return tensor;
      const auto changed = border.change(tensor);
      any = any || changed;
      return changed.value_or(tensor);
    });
    if (any) samples.push_back(std::move(sample));
  }
  return samples;
}

BorderLimits limits_of(const torch::jit::Module& module) {
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  BorderLimits limits;
  bool orders_results = false;
  for_each_node(*graph, [&](const torch::jit::Node& node) {
    orders_results = orders_results || orders_numbers(node);
    limits.keeps_boxes = limits.keeps_boxes || keeps_boxes(node);
    limits.orders = limits.orders || orders_numbers(node) || limits.keeps_boxes;
    limits.makes_integers = limits.makes_integers || makes_integers(node);
    limits.quantises_floats = limits.quantises_floats || find_traits(node).has(Fact::kRoundsToLevels);
    limits.sums_products = limits.sums_products || sums_products(node);
    limits.is_driven_by_values = limits.is_driven_by_values || is_loop_by_values(node) || makes_sizes_of_values(node) ||
                                 !is_known_operator(node) || node.kind() == c10::prim::SetAttr;
  });
  limits.orders_sums = orders_results && limits.sums_products;
  return limits;
}

}  // namespace nnapi_convert
