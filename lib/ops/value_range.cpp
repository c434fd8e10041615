// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/value_range.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lib/ops/index_arguments.h"
#include "lib/ops/range_rules.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

using Found = std::optional<IntegerRange>;
using torch::jit::Use;

std::string kind_name(const TorchNode& node) {
  return node.kind().toQualString();
}

c10::Symbol least_of(size_t input) {
  return c10::Symbol::attr("least_" + std::to_string(input));
}

c10::Symbol greatest_of(size_t input) {
  return c10::Symbol::attr("greatest_" + std::to_string(input));
}

c10::Symbol are_floats(size_t input) {
  return c10::Symbol::attr("are_floats_" + std::to_string(input));
}

bool is_integral(at::ScalarType dtype) {
  return c10::isIntegralType(dtype, /*includeBool=*/true);
}

// Returns the range of a dtype of few bits; nothing for other dtypes.
Found range_of_dtype(at::ScalarType dtype) {
  if (dtype == at::kBool) return IntegerRange{0, 1};
  if (dtype == at::kByte) return IntegerRange{0, UINT8_MAX};
  if (dtype == at::kChar) return IntegerRange{INT8_MIN, INT8_MAX};
  if (dtype == at::kShort) return IntegerRange{INT16_MIN, INT16_MAX};
  return std::nullopt;
}

Found range_of_constant(const at::Tensor& tensor) {
  if (!is_integral(tensor.scalar_type())) return std::nullopt;
  if (tensor.numel() == 0) return IntegerRange{0, 0};
  const at::Tensor numbers = tensor.to(at::kDouble);
  return IntegerRange{numbers.min().item<double>(), numbers.max().item<double>()};
}

Found range_of_constant(const c10::IValue& value) {
  if (value.isInt()) return IntegerRange{static_cast<double>(value.toInt()), static_cast<double>(value.toInt())};
  if (value.isBool()) return IntegerRange{value.toBool() ? 1.0 : 0.0, value.toBool() ? 1.0 : 0.0};
  return value.isTensor() ? range_of_constant(value.toTensor()) : std::nullopt;
}

class Ranges {
 public:
  explicit Ranges(const TypeMap& types) : types_(types) {}

  Found of(const TorchValue& value) {
    const auto known = made_.find(&value);
    if (known != made_.end()) return known->second;
    made_[&value] = std::nullopt;  // nothing is known of a value that depends on itself, as in a loop
    Found range = by_dtype_or_maker(value);
    if (!range) range = read_as(value);
    const TensorType* type = type_of(value);
    if (!range && type != nullptr && type->dtype == at::kInt) range = IntegerRange{INT32_MIN, INT32_MAX};
    made_[&value] = range;
    return range;
  }

  // Returns the range that the readers of the value need it to have; nothing if a reader takes any number.
  Found read_as(const TorchValue& value) {
    const auto known = read_.find(&value);
    if (known != read_.end()) return known->second;
    read_[&value] = std::nullopt;
    if (!value.hasUses()) return std::nullopt;
    Found range;
    for (const Use& use : value.uses()) {
      const Found one = taken_as(use);
      if (!one) return std::nullopt;
      range = range ? range->joined(*one) : *one;
    }
    read_[&value] = range;
    return range;
  }

 private:
  const TensorType* type_of(const TorchValue& value) const { return tensor_type_of(&value, types_); }

  Found by_dtype_or_maker(const TorchValue& value) {
    if (const auto constant = torch::jit::toIValue(&value)) return range_of_constant(*constant);
    const TensorType* type = type_of(value);
    if (type != nullptr) {
      if (const Found range = range_of_dtype(type->dtype)) return range;
      if (!is_integral(type->dtype)) return std::nullopt;
    }
    const TorchNode& node = *value.node();
    if (node.kind() == c10::prim::Param) return noted(value);
    if (node.kind() == c10::prim::If) return of_branches(node, value.offset());
    const auto rule = range_rules().find(kind_name(node));
    return rule == range_rules().end() ? std::nullopt : made_by(node, value.offset(), rule->second);
  }

  Found noted(const TorchValue& value) const {
    const TorchNode& node = *value.node();
    const size_t number = value.offset();
    if (!node.hasAttribute(least_of(number))) return std::nullopt;
    return IntegerRange{node.f(least_of(number)), node.f(greatest_of(number)), node.i(are_floats(number)) != 0};
  }

  Found of_branches(const TorchNode& node, size_t output) {
    Found range;
    for (const torch::jit::Block* block : node.blocks()) {
      const Found one = of(*block->outputs()[output]);
      if (!one) return std::nullopt;
      range = range ? range->joined(*one) : *one;
    }
    return range;
  }

  // Returns the joined range of all tensors among the arguments, also in lists, from argument `first` on.
  Found of_tensors(const TorchNode& node, size_t first = 0) {
    Found range;
    for (size_t i = first; i < node.inputs().size(); ++i) {
      const TorchValue& input = *node.input(i);
      const bool is_list = input.node()->kind() == c10::prim::ListConstruct;
      const bool is_number = input.type()->kind() != c10::TypeKind::TensorType;
      if (!is_list && is_number && i > 0 && !input.type()->isSubtypeOf(*c10::NumberType::get())) continue;
      if (is_condition(node, i)) continue;
      if (!is_list && is_number && kind_name(node) == "aten::cat") continue;  // the axis
      if (!is_list && is_number && kind_name(node) == "aten::stack") continue;
      const Found one = is_list ? of_tensors(*input.node()) : of(input);
      if (!one) return std::nullopt;
      range = range ? range->joined(*one) : *one;
    }
    return range;
  }

  static bool is_condition(const TorchNode& node, size_t input) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (schema == nullptr || input >= schema->arguments().size()) return false;
    const std::string& name = schema->arguments()[input].name();
    return name == "condition" || name == "mask";
  }

  Found argument(const TorchNode& node, const char* name) {
    const c10::FunctionSchema* schema = node.maybeSchema();
    const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName(name);
    return index ? of(*node.input(static_cast<size_t>(*index))) : std::nullopt;
  }

  bool is_none(const TorchNode& node, const char* name) const {
    const c10::FunctionSchema* schema = node.maybeSchema();
    const auto index = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName(name);
    if (!index) return true;
    const auto constant = torch::jit::toIValue(node.input(static_cast<size_t>(*index)));
    return constant && constant->isNone();
  }

  // Returns the range of the first argument, a tensor or a list.
  Found first_of(const TorchNode& node) {
    const TorchValue& input = *node.input(0);
    const TensorType* type = type_of(input);
    if (type != nullptr && type->dtype == at::kFloat) return rounded_floats();
    return input.node()->kind() == c10::prim::ListConstruct ? of_tensors(*input.node()) : of(input);
  }

  // Returns the range of places along any axis of the tensor that the node reads; of places in the flat tensor if
  // argmax or argmin names no axis.
  Found places(const TorchNode& node) const {
    const TensorType* self = type_of(*node.input(0));
    if (self == nullptr) return IntegerRange{0, kLongestAxis - 1};
    double longest = 1;
    for (const Dim& size : self->dims) longest = std::max(longest, count_of(size));
    const bool is_flat =
        (kind_name(node) == "aten::argmax" || kind_name(node) == "aten::argmin") && is_none(node, "dim");
    return IntegerRange{0, (is_flat ? count_of(self->dims) : longest) - 1};
  }

  // Returns the number of elements of the first argument.
  double elements(const TorchNode& node) const {
    const auto self = table_of(*node.input(0));
    return self ? count_of(self->dims) : kLongestAxis;
  }

  Found border(const TorchNode& node) const {
    const bool is_second = kind_name(node) == "aten::bucketize";
    const auto borders = table_of(*node.input(is_second ? 1 : 0));
    const bool has_axis = borders && borders->rank() > 0;
    return IntegerRange{0, has_axis ? count_of(borders->dims.back()) : kLongestAxis};
  }

  std::optional<TensorType> table_of(const TorchValue& value) const {
    if (const TensorType* type = type_of(value)) return *type;
    const auto constant = torch::jit::toIValue(&value);
    return constant && constant->isTensor() ? std::optional(type_of_constant(constant->toTensor())) : std::nullopt;
  }

  Found sum(const TorchNode& node) {
    const Found terms = of(*node.input(0));
    const TensorType* self = type_of(*node.input(0));
    if (!terms || self == nullptr) return std::nullopt;
    const IntegerRange all = *terms * IntegerRange{count_of(self->dims), count_of(self->dims)};
    return all.joined({0, 0}).joined(*terms);
  }

  Found of_pair(const TorchNode& node, RangeRule rule) {
    const Found self = of(*node.input(0)), other = of(*node.input(1));
    if (rule == RangeRule::kRemainder) return remainder(self, other);
    if (!self || !other) return std::nullopt;
    const Found alpha = argument(node, "alpha");
    const IntegerRange factor = alpha.value_or(IntegerRange{1, 1});
    switch (rule) {
      case RangeRule::kAdd:
        return *self + *other * factor;
      case RangeRule::kSubtract:
        return *self + -(*other * factor);
      case RangeRule::kReverseSubtract:
        return *other + -(*self * factor);
      case RangeRule::kMultiply:
        return *self * *other;
      case RangeRule::kMaximum:
        return greater_of(*self, *other);
      case RangeRule::kMinimum:
        return lesser_of(*self, *other);
      default:
        return quotient(*self, *other);
    }
  }

  // Returns the range of aten::max and aten::min, which take one tensor or two.
  Found of_extremes(const TorchNode& node) {
    if (node.inputs().size() != 2) return of(*node.input(0));
    return of_pair(node, kind_name(node) == "aten::max" ? RangeRule::kMaximum : RangeRule::kMinimum);
  }

  // Returns the range of a remainder: its size is at most the largest divisor's.
  static Found remainder(const Found& self, const Found& other) {
    if (!other) return std::nullopt;
    const double most = std::max(std::abs(other->least), std::abs(other->greatest));
    const bool is_positive = self && self->least >= 0 && other->least >= 0;
    return IntegerRange{is_positive ? 0 : -most, most};
  }

  Found clamped(const TorchNode& node) {
    Found range = of(*node.input(0));
    const Found low = argument(node, "min"), high = argument(node, "max");
    if (!range && low && high) return low->joined(*high);
    if (!range) return std::nullopt;
    if (low) range = greater_of(*range, *low);
    if (high) range = lesser_of(*range, *high);
    return range;
  }

  Found with_zeros(const TorchNode& node) {
    const Found self = first_of(node);
    return self ? Found(self->joined({0, 0})) : std::nullopt;
  }

  // Returns argument "value", which may be a float; 0 without one.
  Found padding(const TorchNode& node) {
    if (is_none(node, "value")) return IntegerRange{0, 0};
    const auto constant = torch::jit::toIValue(node.namedInput("value"));
    if (!constant || !constant->isDouble()) return argument(node, "value");
    const double number = std::trunc(constant->toDouble());
    return IntegerRange{number, number};
  }

  Found made_by(const TorchNode& node, size_t output, RangeRule rule) {
    switch (rule) {
      case RangeRule::kMove:
        return of_tensors(node);
      case RangeRule::kFirst:
        return first_of(node);
      case RangeRule::kIndex:
        return places(node);
      case RangeRule::kPick:
        if (output == 1) return places(node);
        return of_extremes(node);
      case RangeRule::kBorder:
        return border(node);
      case RangeRule::kCount:
        return IntegerRange{0, elements(node)};
      case RangeRule::kPool:
        return IntegerRange{0, elements(node) - 1};
      case RangeRule::kSum:
        return sum(node);
      case RangeRule::kProduct: {
        const Found factors = of(*node.input(0));
        return factors ? product(*factors) : std::nullopt;
      }
      case RangeRule::kNegate:
      case RangeRule::kAbsolute: {
        const Found self = of(*node.input(0));
        return self ? Found(rule == RangeRule::kNegate ? -*self : self->joined(-*self)) : std::nullopt;
      }
      case RangeRule::kClamp:
        return clamped(node);
      case RangeRule::kOneHot:
        return IntegerRange{0, 1};
      case RangeRule::kWithZeros:
        return with_zeros(node);
      case RangeRule::kPadded: {
        const Found inside = with_zeros(node), around = padding(node);
        return inside && around ? Found(inside->joined(*around)) : std::nullopt;
      }
      case RangeRule::kSign:
        return IntegerRange{-1, 1};
      default:
        return of_pair(node, rule);
    }
  }

  // Returns the range that a reader needs: that of an index, or the range that the readers of its result need.
  Found taken_as(const Use& use) {
    const TorchNode& node = *use.user;
    if (node.kind() == c10::prim::ListUnpack) return of_results(node);
    if (node.kind() == c10::prim::ListConstruct) return taken_from_list(node, use.offset);
    if (const Found range = index_range(node, use.offset, types_)) return range;
    const auto rule = range_rules().find(kind_name(node));
    if (rule == range_rules().end()) return std::nullopt;
    const bool is_moved = rule->second == RangeRule::kMove || (rule->second == RangeRule::kFirst && use.offset == 0);
    if (is_moved && !is_condition(node, use.offset) && !picks(node)) return of_results(node);
    const bool is_sum = rule->second == RangeRule::kAdd || rule->second == RangeRule::kSubtract;
    return is_sum && use.offset < 2 ? term_of(node, use.offset, rule->second) : std::nullopt;
  }

  // Returns the range that readers of the list need of its element: in x[:, indices] it is an index of the axis with
  // its number, or it is moved on with the list.
  Found taken_from_list(const TorchNode& list, size_t element) {
    Found range;
    for (const Use& use : list.output()->uses()) {
      Found one = index_range_in_list(*use.user, use.offset, element, types_);
      if (!one) one = taken_as(use);
      if (!one) return std::nullopt;
      range = range ? range->joined(*one) : *one;
    }
    return range;
  }

  // True for operators that choose elements by values, or leave out rows of a table: the readers of their results say
  // nothing of the elements that are left out. Elements that slices leave out are seen by no reader.
  static bool picks(const TorchNode& node) {
    static const std::unordered_set<std::string> kinds = {
        "aten::embedding", "aten::index_select", "aten::gather",        "aten::index", "aten::take",
        "aten::where",     "aten::masked_fill",  "aten::masked_select", "aten::amax",  "aten::amin"};
    return kinds.count(kind_name(node)) != 0;
  }

  // Returns the range that the readers of the node's results need. Nobody sees results without readers.
  Found of_results(const TorchNode& node) {
    Found range;
    for (const TorchValue* output : node.outputs()) {
      if (!output->hasUses()) continue;
      const Found one = read_as(*output);
      if (!one) return std::nullopt;
      range = range ? range->joined(*one) : *one;
    }
    return range;
  }

  // Returns the range of a term of a sum, from the ranges of the sum and of the other term.
  Found term_of(const TorchNode& node, size_t offset, RangeRule rule) {
    const Found sum = read_as(*node.output());
    const Found other = by_dtype_or_maker(*node.input(1 - offset));
    const Found alpha = argument(node, "alpha");
    if (!sum || !other || (alpha && (alpha->least != 1 || alpha->greatest != 1))) return std::nullopt;
    if (rule == RangeRule::kAdd) return *sum + -*other;
    return offset == 0 ? *sum + *other : *other + -*sum;
  }

  const TypeMap& types_;
  std::unordered_map<const TorchValue*, Found> made_, read_;
};

}  // namespace

Found integer_range(const TorchValue& value, const TypeMap& types) {
  return Ranges(types).of(value);
}

void note_range(torch::jit::Value& input, const IntegerRange& range) {
  input.node()->f_(least_of(input.offset()), range.least);
  input.node()->f_(greatest_of(input.offset()), range.greatest);
  input.node()->i_(are_floats(input.offset()), range.are_floats ? 1 : 0);
}

}  // namespace nnapi_convert
