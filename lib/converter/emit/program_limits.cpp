// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/program_limits.h"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <stdexcept>

#include "lib/ops/op_arguments.h"
#include "lib/program/operators.h"
#include "lib/serialize/program_writer.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// An argument for which the program's operator takes only the values that `value` says.
struct LimitedArgument {
  enum class Value { kNone, kFalse, kTrue, kNoMean };
  const char *op, *argument;
  Value value;
};

constexpr LimitedArgument kLimitedArguments[] = {
    {"aten::batch_norm", "training", LimitedArgument::Value::kFalse},
    {"aten::dropout", "train", LimitedArgument::Value::kFalse},
    {"aten::scatter_reduce", "include_self", LimitedArgument::Value::kTrue},
    {"aten::scatter_reduce", "reduce", LimitedArgument::Value::kNoMean},
    {"aten::searchsorted", "sorter", LimitedArgument::Value::kNone},
    {"aten::unique_consecutive", "dim", LimitedArgument::Value::kNone},
};

// True if the argument may have such a value. Flags and names that aren't constants are checked when the program runs.
bool may_take(const LimitedArgument& limit, const Value& argument) {
  const auto value = torch::jit::toIValue(&argument);
  if (limit.value == LimitedArgument::Value::kNone) return value && value->isNone();
  if (limit.value == LimitedArgument::Value::kNoMean) return !value || *value != c10::IValue("mean");
  return !value || !value->isBool() || value->toBool() == (limit.value == LimitedArgument::Value::kTrue);
}

void check_arguments(const Node& node, const c10::FunctionSchema& schema) {
  for (const LimitedArgument& limit : kLimitedArguments) {
    const auto index = schema.name() == limit.op ? schema.argumentIndexWithName(limit.argument) : c10::nullopt;
    if (!index || may_take(limit, *node.input(static_cast<size_t>(*index)))) continue;
    throw std::invalid_argument(fmt::format("{} with {}, which the shim's programs lack", limit.op, limit.argument));
  }
}

// Throws std::invalid_argument for a dtype that programs lack: one that the operator is asked for, or one that the
// module compares an argument's dtype with.
void check_dtypes(const Node& node, const c10::FunctionSchema* schema) {
  const auto asked = schema == nullptr ? c10::nullopt : schema->argumentIndexWithName("dtype");
  const auto inputs = node.inputs();
  const bool compares_dtypes = std::any_of(
      inputs.begin(), inputs.end(), [](const Value* input) { return input->node()->kind() == c10::prim::dtype; });
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto constant = compares_dtypes || asked == i ? torch::jit::toIValue(inputs[i]) : c10::nullopt;
    if (!constant || !constant->isInt()) continue;
    const auto dtype = static_cast<at::ScalarType>(constant->toInt());
    if (!has_program_dtype(dtype)) throw std::invalid_argument(fmt::format("a tensor of {}", dtype_name(dtype)));
  }
}

}  // namespace

void check_programs_have(const Node& node, const std::string& name) {
  const bool is_known = nnapi_shim::program::find_operator(name.data(), name.size()).table != nullptr;
  if (!is_known || !node.blocks().empty()) {
    throw std::invalid_argument(name + " is not among the operators that the shim's programs have");
  }
  const c10::FunctionSchema* schema = node.maybeSchema();
  check_dtypes(node, schema);
  if (schema != nullptr) check_arguments(node, *schema);
}

}  // namespace nnapi_convert
