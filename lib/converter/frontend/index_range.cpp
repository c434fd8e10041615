// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/index_range.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/converter/frontend/infer.h"
#include "lib/converter/frontend/normalise.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Use;
using Range = std::optional<IndexRange>;

// True for an operator that takes indices, as a tensor or as a list of tensors.
bool is_reader(const TorchNode& node) {
  const Index index = find_traits(node).index;
  return index == Index::kAlongDim || index == Index::kRows || index == Index::kPositions || index == Index::kClass;
}

// Returns the values that both ranges allow; the known range if only one is known.
Range common(const Range& one, const Range& other) {
  if (!one || !other) return one ? one : other;
  IndexRange both = *one;
  both.lowest = std::max(one->lowest, other->lowest);
  both.highest = std::min(one->highest, other->highest);
  both.is_cast = one->is_cast && other->is_cast;
  both.is_row = one->is_row || other->is_row;
  return both;
}

int64_t moved(int64_t limit, int64_t by) {
  return limit == IndexRange::kUnlimited ? limit : limit + by;
}

Range shifted(Range range, int64_t lowest_by, int64_t highest_by) {
  if (!range) return range;
  range->lowest += lowest_by;
  range->highest = moved(range->highest, highest_by);
  return range;
}

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

struct Bounds {
  int64_t least, most;
};

bool is_small(double number) {
  constexpr double kMost = 1e15;
  return number == std::floor(number) && std::abs(number) < kMost;
}

// Returns the least and greatest number of a constant of integers.
std::optional<Bounds> bounds_of(const c10::IValue& constant) {
  if (constant.isInt()) return Bounds{constant.toInt(), constant.toInt()};
  if (constant.isDouble() && is_small(constant.toDouble())) {
    const auto whole = static_cast<int64_t>(constant.toDouble());
    return Bounds{whole, whole};
  }
  if (!constant.isTensor() || !constant.toTensor().defined() || constant.toTensor().numel() == 0) return std::nullopt;
  const at::Tensor& tensor = constant.toTensor();
  if (tensor.is_quantized() || !c10::isIntegralType(tensor.scalar_type(), false)) return std::nullopt;
  return Bounds{tensor.min().item<int64_t>(), tensor.max().item<int64_t>()};
}

class Reads {
 public:
  explicit Reads(const TypeMap& types) : types_(types) {}

  Range of(const TorchValue& value) {
    const auto known = known_.find(&value);
    if (known != known_.end()) return known->second;
    known_[&value] = std::nullopt;
    Range range;
    for (const Use& use : value.uses()) range = common(range, of(use));
    known_[&value] = range;
    return range;
  }

 private:
  static std::string argument_of(const Use& use) {
    const c10::FunctionSchema* schema = use.user->maybeSchema();
    return schema == nullptr || use.offset >= schema->arguments().size() ? "" : schema->arguments()[use.offset].name();
  }

  static std::optional<c10::IValue> constant(const TorchNode& node, const char* name) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName(name);
    if (!index) return std::nullopt;
    const auto value = torch::jit::toIValue(node.input(static_cast<size_t>(*index)));
    return value ? std::optional(*value) : std::nullopt;
  }

  std::optional<std::vector<int64_t>> sizes_of(const TorchValue& value) const {
    if (const auto constant = torch::jit::toIValue(&value)) {
      return constant->isTensor() && constant->toTensor().defined() ? std::optional(constant->toTensor().sizes().vec())
                                                                    : std::nullopt;
    }
    const TensorType* type = tensor_type_of(&value, types_);
    if (type == nullptr) return std::nullopt;
    std::vector<int64_t> sizes;
    for (const Dim& dim : type->dims) sizes.push_back(dim.fixed_value().value_or(IndexRange::kUnlimited));
    return sizes;
  }

  IndexRange along(const TorchNode& reader, const TorchValue& table, std::optional<int64_t> axis) const {
    IndexRange range;
    range.reader = &reader;
    const auto sizes = sizes_of(table);
    if (!sizes || !axis) return range;
    const int64_t from_front = *axis < 0 ? *axis + static_cast<int64_t>(sizes->size()) : *axis;
    if (from_front < 0 || from_front >= static_cast<int64_t>(sizes->size())) return range;
    const int64_t size = (*sizes)[static_cast<size_t>(from_front)];
    if (size != IndexRange::kUnlimited) range.highest = size - 1;
    return range;
  }

  Range of(const Use& use) {
    const TorchNode& node = *use.user;
    const std::string kind = node.kind().toQualString(), argument = argument_of(use);
    const OpTraits& traits = find_traits(node);
    if (traits.index == Index::kRows && argument == "indices") {
      IndexRange range = along(node, *node.namedInput("weight"), 0);
      range.is_row = true;
      return range;
    }
    if (traits.index == Index::kAlongDim && (argument == "index" || argument == "indices")) {
      const auto axis = constant(node, "dim");
      return along(node, *node.input(0), axis && axis->isInt() ? std::optional(axis->toInt()) : std::nullopt);
    }
    if (traits.index == Index::kStart && argument == "start") return of_start(node);
    if (traits.index == Index::kClass) return of_classes(node);
    if (node.kind() == c10::prim::ListConstruct) return of_list(use);
    if (node.kind() == c10::prim::ListUnpack) return of_outputs(node);
    if (use.offset != 0 && kind != "aten::where") return of_arithmetic(use, kind);
    if (traits.has(Fact::kCasts)) {
      Range range = of_outputs(node);
      if (range) range->is_cast = true;
      return range;
    }
    const bool is_chosen = kind == "aten::where" && use.offset > 0;
    if (traits.has(Fact::kMovesElements) || is_reader(node) || is_chosen) return of_outputs(node);
    return of_arithmetic(use, kind);
  }

  Range of_outputs(const TorchNode& node) {
    Range range;
    for (const TorchValue* output : node.outputs()) range = common(range, of(*output));
    return range;
  }

  // Returns the places where a part of constant length (aten::narrow) may begin.
  Range of_start(const TorchNode& node) const {
    const auto axis = constant(node, "dim"), length = constant(node, "length");
    IndexRange range = along(node, *node.input(0), axis ? std::optional(axis->toInt()) : std::nullopt);
    if (length && range.has_limit()) range.highest -= length->toInt() - 1;
    return range;
  }

  static Range of_classes(const TorchNode& node) {
    IndexRange range;
    range.reader = &node;
    const auto classes = constant(node, "num_classes");
    if (classes && classes->isInt() && classes->toInt() > 0) range.highest = classes->toInt() - 1;
    return range;
  }

  // Returns the range of a list's element: the list holds indices, one for each axis, or parts of a larger tensor.
  Range of_list(const Use& element) {
    Range range;
    for (const Use& use : element.user->output()->uses()) {
      const std::string kind = use.user->kind().toQualString();
      if (find_traits(*use.user).index == Index::kPositions && use.offset == 1) {
        range = common(range, along(*use.user, *use.user->input(0), static_cast<int64_t>(element.offset)));
      } else if (kind == "aten::cat" || kind == "aten::stack") {
        range = common(range, of_outputs(*use.user));
      }
    }
    return range;
  }

  // Returns the range of the value, if the node computes it with a constant and reads the result as indices.
  Range of_arithmetic(const Use& use, const std::string& kind) {
    static const std::set<std::string> kinds = {"aten::add", "aten::sub",          "aten::rsub",      "aten::mul",
                                                "aten::div", "aten::floor_divide", "aten::remainder", "aten::clamp"};
    if (kinds.count(kind) == 0 || use.offset > 1) return std::nullopt;
    const Range range = of_outputs(*use.user);
    if (!range) return range;
    if (kind == "aten::clamp") return clamped(use, *range);
    const auto other = torch::jit::toIValue(use.user->input(1 - use.offset));
    const auto by = other ? bounds_of(*other) : std::nullopt;
    if (!by) return std::nullopt;
    const auto alpha = constant(*use.user, "alpha");
    if (alpha && !(alpha->isInt() && alpha->toInt() == 1)) return std::nullopt;
    if (kind == "aten::add") return shifted(range, -by->least, -by->most);
    if (use.offset == 1 ? kind == "aten::sub" : kind == "aten::rsub") return reflected(*range, *by);
    if (kind == "aten::sub" && use.offset == 0) return shifted(range, by->most, by->least);
    const bool is_scale = kind != "aten::sub" && kind != "aten::rsub" && by->least == by->most && by->least > 0;
    return is_scale ? scaled(use, kind, *range, by->least) : std::nullopt;
  }

  // Returns the range of x, if `by` - x has the given range.
  static Range reflected(IndexRange range, const Bounds& by) {
    const int64_t lowest = range.has_limit() ? by.most - range.highest : 0;
    range.highest = by.least - range.lowest;
    range.lowest = lowest;
    return range;
  }

  static Range clamped(const Use& use, const IndexRange& range) {
    const auto least = constant(*use.user, "min"), most = constant(*use.user, "max");
    const auto low = least ? bounds_of(*least) : std::nullopt, high = most ? bounds_of(*most) : std::nullopt;
    const bool fits = low && high && low->least >= range.lowest && high->most <= range.highest;
    return fits ? std::nullopt : Range(range);
  }

  static Range scaled(const Use& use, const std::string& kind, IndexRange range, int64_t by) {
    if (kind == "aten::mul") {
      range.lowest = -floor_div(-range.lowest, by);
      if (range.has_limit()) range.highest = floor_div(range.highest, by);
      return range;
    }
    if (use.offset != 0) return std::nullopt;
    if (kind == "aten::remainder") {
      if (range.lowest <= 0 && range.highest >= by - 1) return std::nullopt;
      range.highest = std::min(range.highest, by - 1);
      return range;
    }
    if (kind == "aten::div") {
      const auto rounding = constant(*use.user, "rounding_mode");
      if (!rounding || !rounding->isString()) return std::nullopt;
    }
    range.lowest *= by;
    if (range.has_limit()) range.highest = range.highest * by + by - 1;
    return range;
  }

  const TypeMap& types_;
  std::unordered_map<const TorchValue*, Range> known_;
};

// Looks for readers in graphs and in the functions that they call, each once.
class ReaderSearch {
 public:
  bool has(torch::jit::Graph& graph) {
    bool found = false;
    for_each_node(graph, [&](const TorchNode& node) { found = found || is_reader(node) || calls_reader(node); });
    return found;
  }

 private:
  bool calls_reader(const TorchNode& node) {
    if (node.kind() != c10::prim::CallFunction) return false;
    torch::jit::Function* function = node.input(0)->type()->expectRef<c10::FunctionType>().function();
    if (!function->isGraphFunction() || !seen_.insert(function).second) return false;
    return has(*torch::jit::toGraphFunction(*function).graph());
  }

  std::set<const torch::jit::Function*> seen_;
};

}  // namespace

std::optional<IndexRange> index_range(const TorchValue& value, const TypeMap& types) {
  return Reads(types).of(value);
}

bool may_read_indices(const torch::jit::Module& module) {
  ReaderSearch search;
  for (const torch::jit::Module& each : module.modules()) {
    for (const torch::jit::Method& method : each.get_methods()) {
      if (search.has(*method.graph())) return true;
    }
  }
  return false;
}

IndexRanges ranges_of_inputs(NormalisedModel& model, const std::vector<TensorType>& types) {
  InferOptions options;
  options.keeps_numbers = true;
  const InferredTypes inferred = infer(model, types, options);
  std::vector<Range> ranges(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const Range range = index_range(*model.inputs[i], inferred.types);
    if (range && range->has_limit() && range->lowest <= range->highest) ranges[i] = range;
    if (ranges[i]) ranges[i]->reader = nullptr;  // the node is freed with the graph
  }
  return ranges;
}

IndexRanges index_ranges(const LoadedModel& loaded, const std::vector<std::string>& names,
                         const std::vector<TensorType>& types, const FrozenModule* frozen) {
  if (!may_read_indices(loaded.module)) return std::vector<Range>(names.size());
  try {
    Diagnostics ignored;
    NormalisedModel model =
        normalise(loaded, frozen != nullptr ? *frozen : frozen_module(loaded), {RunBy::kNnapiAndCpu, names}, ignored);
    if (model.input_names == names && types.size() == names.size()) return ranges_of_inputs(model, types);
  } catch (const ConvertError&) {
    // An error proves nothing about the inputs.
  }
  return std::vector<Range>(names.size());
}

}  // namespace nnapi_convert
