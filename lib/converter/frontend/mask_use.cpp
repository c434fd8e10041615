// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/mask_use.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

using torch::jit::Use;

// Scores that are lower by so much have no share in a softmax.
constexpr double kHidesScores = -1e3;

std::string argument_read_by(const Use& use) {
  const c10::FunctionSchema* schema = use.user->maybeSchema();
  return schema == nullptr || use.offset >= schema->arguments().size() ? "" : schema->arguments()[use.offset].name();
}

// Returns a constant number, also of a tensor of one element; nothing for other values.
std::optional<double> constant_number(const TorchValue* value) {
  const auto constant = torch::jit::toIValue(value);
  if (!constant) return std::nullopt;
  if (constant->isInt() || constant->isDouble() || constant->isBool()) return constant->toScalar().toDouble();
  const bool is_tensor = constant->isTensor() && constant->toTensor().defined() && constant->toTensor().numel() == 1 &&
                         !constant->toTensor().is_complex() && !constant->toTensor().is_quantized();
  return is_tensor ? std::optional(constant->toTensor().item().toDouble()) : std::nullopt;
}

bool hides_scores(const TorchValue* value) {
  const auto number = constant_number(value);
  return number && *number <= kHidesScores;
}

// Adds what one use tells; the first one that tells something counts.
void add_use(MaskUse& all, const MaskUse& one) {
  if (!all.hiding_flag) all.hiding_flag = one.hiding_flag;
  all.is_added = all.is_added || one.is_added;
}

MaskUse inverted_use(MaskUse use) {
  if (use.hiding_flag) use.hiding_flag = !*use.hiding_flag;
  return use;
}

// True if a comparison of flags with a constant gives their opposite, false if it gives them; nothing for other
// operators.
std::optional<bool> is_inverting(const std::string& kind, double than) {
  const bool is_like_zero = than < 0.5;
  if (kind == "aten::eq") return is_like_zero;
  if (kind == "aten::ne") return !is_like_zero;
  if (kind == "aten::gt" || kind == "aten::ge") return false;
  if (kind == "aten::lt" || kind == "aten::le") return true;
  return std::nullopt;
}

class MaskReads {
 public:
  MaskUse of(const TorchValue& value) {
    MaskUse all;
    if (!seen_.insert(&value).second) return all;
    for (const Use& use : value.uses()) add_use(all, of(use));
    return all;
  }

 private:
  static bool reaches_softmax(const TorchValue& value, int steps) {
    constexpr int kMostSteps = 6;
    return steps < kMostSteps && std::any_of(value.uses().begin(), value.uses().end(), [&](const Use& use) {
             const std::string kind = use.user->kind().toQualString();
             if (kind == "aten::softmax" || kind == "aten::_softmax" || kind == "aten::log_softmax") return true;
             const bool goes_on = find_traits(*use.user).has(Fact::kMovesElements) ||
                                  find_traits(*use.user).has(Fact::kCasts) || kind == "aten::add" ||
                                  kind == "aten::masked_fill";
             return goes_on && use.user->outputs().size() == 1 && reaches_softmax(*use.user->output(), steps + 1);
           });
  }

  MaskUse of_outputs(const TorchNode& node) {
    MaskUse all;
    for (const TorchValue* output : node.outputs()) add_use(all, of(*output));
    return all;
  }

  MaskUse of(const Use& use) {
    const TorchNode& node = *use.user;
    const std::string kind = node.kind().toQualString(), argument = argument_read_by(use);
    const OpTraits& traits = find_traits(node);
    if (kind == "aten::masked_fill" && argument == "mask") return {true};
    if (kind == "aten::where" && argument == "condition" && node.inputs().size() == 3) return of_choice(node);
    // Operators of PyTorch 2 have a boolean mask of what counts (attn_mask); those of layers hide where the mask is
    // true.
    if (argument == "attn_mask") return {false, true};
    if (argument == "mask" || argument == "src_mask" || argument == "key_padding_mask") return {true, true};
    if (kind == "aten::logical_not" || kind == "aten::bitwise_not") return inverted_use(of_outputs(node));
    if (kind == "aten::logical_and" || kind == "aten::logical_or" || kind == "aten::bitwise_and" ||
        kind == "aten::bitwise_or" || kind == "aten::__and__" || kind == "aten::__or__") {
      return of_outputs(node);
    }
    if (use.offset == 0 &&
        (traits.has(Fact::kMovesElements) || traits.has(Fact::kCasts) || kind == "aten::masked_fill"))
      return of_outputs(node);
    if (use.offset < 2 && node.inputs().size() >= 2) return of_arithmetic(use, kind);
    return {};
  }

  // Returns the use of the condition in where(mask, x, -1e9), or the other way round.
  static MaskUse of_choice(const TorchNode& node) {
    if (hides_scores(node.input(2))) return {false};
    if (hides_scores(node.input(1))) return {true};
    return {};
  }

  MaskUse of_arithmetic(const Use& use, const std::string& kind) {
    const TorchNode& node = *use.user;
    const auto other = constant_number(node.input(1 - use.offset));
    if (!other) {
      const bool is_sum = kind == "aten::add" || kind == "aten::baddbmm";
      return {std::nullopt, is_sum && reaches_softmax(*node.output(), 0)};
    }
    if (use.offset == 0) {
      if (const auto inverts = is_inverting(kind, *other))
        return *inverts ? inverted_use(of_outputs(node)) : of_outputs(node);
    }
    const bool is_opposite = *other == 1 && kind == (use.offset == 0 ? "aten::rsub" : "aten::sub");
    if (is_opposite) return inverted_use(of_outputs(node));
    if (kind == "aten::mul" && *other <= kHidesScores) return {true};
    return {};
  }

  std::set<const TorchValue*> seen_;
};

void add_compared(const TorchValue& value, std::set<const TorchValue*>& seen, std::vector<int64_t>& numbers) {
  if (!seen.insert(&value).second) return;
  for (const Use& use : value.uses()) {
    const TorchNode& node = *use.user;
    const std::string kind = node.kind().toQualString();
    const bool compares = kind == "aten::eq" || kind == "aten::ne";
    if (compares && use.offset < 2) {
      const auto number = constant_number(node.input(1 - use.offset));
      if (number && *number == std::floor(*number)) numbers.push_back(static_cast<int64_t>(*number));
    }
    const OpTraits& traits = find_traits(node);
    const bool goes_on = use.offset == 0 && (traits.has(Fact::kMovesElements) || traits.has(Fact::kCasts));
    if (goes_on && node.outputs().size() == 1) add_compared(*node.output(), seen, numbers);
  }
}

}  // namespace

MaskUse mask_use(const TorchValue& value) {
  return MaskReads().of(value);
}

std::vector<int64_t> compared_with(const TorchValue& value) {
  std::set<const TorchValue*> seen;
  std::vector<int64_t> numbers;
  add_compared(value, seen, numbers);
  return numbers;
}

}  // namespace nnapi_convert
