// SPDX-License-Identifier: BSD-3-Clause
#include "lib/ops/operand_range.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "lib/format/operation_table.h"
#include "lib/ops/index_arguments.h"
#include "lib/ops/value_range.h"
#include "lib/types/constant_tensor.h"

namespace nnapi_convert {
namespace {

using Found = std::optional<IntegerRange>;

// A tensor that the node reads: argument `offset`, or an element of the list that it is.
struct Argument {
  const TorchValue* value;
  size_t offset;
  size_t element = 0;
};

// Returns the tensors that the node reads, by their operands.
std::unordered_map<nnapi::OperandId, Argument> arguments_of(OpContext& ctx) {
  std::unordered_map<nnapi::OperandId, Argument> arguments;
  const auto add = [&](const TorchValue* value, size_t offset, size_t element) {
    const auto found = ctx.types().find(value);
    if (found == ctx.types().end() || !std::holds_alternative<TensorType>(found->second)) return;
    arguments.emplace(ctx.operand_of(value).id, Argument{value, offset, element});
  };
  const TorchNode& node = ctx.node();
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return arguments;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const TorchValue* input = node.input(i);
    if (torch::jit::toIValue(input)) continue;
    if (input->node()->kind() == c10::prim::ListConstruct) {
      const auto elements = input->node()->inputs();
      for (size_t j = 0; j < elements.size(); ++j) {
        if (!torch::jit::toIValue(elements[j])) add(elements[j], i, j);
      }
    } else if (ctx.tensor_list(schema->arguments()[i].name()) != nullptr) {
      for (const LoweredTensor& element : ctx.operands(schema->arguments()[i].name())) {
        arguments.emplace(element.id, Argument{input, i, 0});
      }
    } else {
      add(input, i, 0);
    }
  }
  return arguments;
}

class OperandRanges {
 public:
  explicit OperandRanges(OpContext& ctx) : ctx_(ctx), model_(ctx.builder().model()), arguments_(arguments_of(ctx)) {}

  Found of(nnapi::OperandId id) {
    const nnapi::Operand& operand = model_.at(id);
    if (operand.type == OperandCode::TENSOR_BOOL8) return IntegerRange{0, 1};
    if (operand.is_constant()) return of_constant(operand);
    const auto argument = arguments_.find(id);
    if (argument != arguments_.end()) return of_argument(argument->second);
    const nnapi::Operation* producer = producer_of(id);
    return producer == nullptr ? std::nullopt : made_by(*producer, id);
  }

  bool depends_on_floats(nnapi::OperandId id) {
    const nnapi::Operand& operand = model_.at(id);
    if (operand.is_constant()) return false;
    if (arguments_.count(id) != 0) return operand.type == OperandCode::TENSOR_FLOAT32;
    const nnapi::Operation* producer = producer_of(id);
    if (producer == nullptr) return true;
    return std::any_of(producer->inputs.begin(), producer->inputs.end(),
                       [this](nnapi::OperandId input) { return depends_on_floats(input); });
  }

 private:
  static Found of_constant(const nnapi::Operand& operand) {
    if (const Dims* numbers = operand.ints()) {
      if (!all_fixed(*numbers)) return IntegerRange{-kLongestAxis, kLongestAxis};
      if (numbers->empty()) return std::nullopt;
      const std::vector<int64_t> values = fixed_values(*numbers);
      const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
      return IntegerRange{static_cast<double>(*least), static_cast<double>(*greatest)};
    }
    const nnapi::Constant* constant = operand.constant();
    if (constant == nullptr) return std::nullopt;
    const at::Tensor values = to_tensor(*constant);
    if (values.numel() == 0) return IntegerRange{0, 0};
    const at::Tensor numbers = values.to(at::kDouble);
    return IntegerRange{numbers.min().item<double>(), numbers.max().item<double>()};
  }

  Found of_argument(const Argument& argument) const {
    if (const Found range = index_range(ctx_.node(), argument.offset, ctx_.types())) return range;
    if (const Found range = index_range_in_list(ctx_.node(), argument.offset, argument.element, ctx_.types())) {
      return range;
    }
    return integer_range(*argument.value, ctx_.types());
  }

  // Returns the last operation that writes the operand, as rules append operations; null if there is none.
  const nnapi::Operation* producer_of(nnapi::OperandId id) const {
    const auto& operations = model_.operations;
    const auto found = std::find_if(operations.rbegin(), operations.rend(), [id](const nnapi::Operation& operation) {
      return std::find(operation.outputs.begin(), operation.outputs.end(), id) != operation.outputs.end();
    });
    return found == operations.rend() ? nullptr : &*found;
  }

  double elements(nnapi::OperandId id) const { return count_of(model_.at(id).dims); }

  Found joined(const nnapi::Operation& operation, size_t first, size_t end) {
    Found range;
    for (size_t i = first; i < end; ++i) {
      const Found one = of(operation.inputs[i]);
      if (!one) return std::nullopt;
      range = range ? range->joined(*one) : *one;
    }
    return range;
  }

  // Returns the range of a result by a function of the ranges of the first two inputs.
  template <typename Function>
  Found of_pair(const nnapi::Operation& operation, const Function& function) {
    const Found a = of(operation.inputs[0]), b = of(operation.inputs[1]);
    return a && b ? Found(function(*a, *b)) : std::nullopt;
  }

  template <typename Function>
  Found of_first(const nnapi::Operation& operation, const Function& function) {
    const Found x = of(operation.inputs[0]);
    return x ? Found(function(*x)) : std::nullopt;
  }

  // Returns the range of a result with weights, from the sums of the weights' absolute values.
  Found weighted_sum(const nnapi::Operation& operation) {
    const nnapi::Constant* weights = model_.at(operation.inputs[1]).constant();
    const Found x = of(operation.inputs[0]), bias = of(operation.inputs[2]);
    if (weights == nullptr || !x || !bias) return std::nullopt;
    const auto factor = to_tensor(*weights).abs().sum(1).max().item<double>();
    const double most = std::max(std::abs(x->least), std::abs(x->greatest)) * factor;
    return IntegerRange{-most, most} + *bias;
  }

  Found sum(const nnapi::Operation& operation) {
    const double terms = elements(operation.inputs[0]) / std::max(1.0, elements(operation.outputs[0]));
    return of_first(operation, [&](const IntegerRange& x) { return x * IntegerRange{1, std::max(1.0, terms)}; });
  }

  Found made_by(const nnapi::Operation& operation, nnapi::OperandId id) {
    const size_t count = operation.inputs.size();
    switch (operation.code) {
      case OperationCode::ARGMAX:
      case OperationCode::ARGMIN:
        return IntegerRange{0, elements(operation.inputs[0]) - 1};
      case OperationCode::TOPK_V2:
        if (id == operation.outputs[1]) return IntegerRange{0, elements(operation.inputs[0]) - 1};
        return of(operation.inputs[0]);
      case OperationCode::CONCATENATION:
        return joined(operation, 0, count - 1);
      case OperationCode::PACK:
        return joined(operation, 1, count);
      case OperationCode::SELECT:
        return joined(operation, 1, 3);
      case OperationCode::CAST:
        return depends_on_floats(operation.inputs[0]) ? Found(rounded_floats()) : of(operation.inputs[0]);
      case OperationCode::REDUCE_SUM:
        return sum(operation);
      case OperationCode::REDUCE_PROD: {
        const Found factors = of(operation.inputs[0]);
        return factors ? product(*factors) : std::nullopt;
      }
      case OperationCode::FULLY_CONNECTED:
        return weighted_sum(operation);
      default:
        return has_trait(operation.code, OperationTrait::kWithinRange) ? of(operation.inputs[0])
                                                                       : by_arithmetic(operation);
    }
  }

  Found by_arithmetic(const nnapi::Operation& operation) {
    using Range = IntegerRange;
    switch (operation.code) {
      case OperationCode::ADD:
        return of_pair(operation, [](const Range& a, const Range& b) { return a + b; });
      case OperationCode::SUB:
        return of_pair(operation, [](const Range& a, const Range& b) { return a + -b; });
      case OperationCode::MUL:
        return of_pair(operation, [](const Range& a, const Range& b) { return a * b; });
      case OperationCode::DIV:
        return of_pair(operation, [](const Range& a, const Range& b) { return quotient(a, b); });
      case OperationCode::MAXIMUM:
        return of_pair(operation, greater_of);
      case OperationCode::MINIMUM:
        return of_pair(operation, lesser_of);
      case OperationCode::NEG:
        return of_first(operation, [](const Range& x) { return -x; });
      case OperationCode::ABS:
        return of_first(operation, [](const Range& x) { return x.joined(-x); });
      case OperationCode::RELU:
        return of_first(operation, [](const Range& x) { return greater_of(x, Range{0, 0}); });
      case OperationCode::FLOOR:
        return of_first(operation, [](const Range& x) { return Range{std::floor(x.least), std::floor(x.greatest)}; });
      default:
        return std::nullopt;
    }
  }

  OpContext& ctx_;
  const nnapi::Model& model_;
  std::unordered_map<nnapi::OperandId, Argument> arguments_;
};

}  // namespace

std::optional<IntegerRange> operand_range(OpContext& ctx, nnapi::OperandId id) {
  return OperandRanges(ctx).of(id);
}

bool depends_on_floats(OpContext& ctx, nnapi::OperandId id) {
  return OperandRanges(ctx).depends_on_floats(id);
}

}  // namespace nnapi_convert
