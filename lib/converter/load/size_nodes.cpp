// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/size_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "lib/converter/load/argument_values.h"
#include "lib/converter/load/export_json.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

struct NumberFunction {
  const char* target;
  const char* kind;  // the operator in TorchScript
};

constexpr NumberFunction kFunctions[] = {
    {"_operator.add", "aten::add"},
    {"_operator.sub", "aten::sub"},
    {"_operator.mul", "aten::mul"},
    {"_operator.floordiv", "aten::floordiv"},
    {"_operator.truediv", "aten::div"},
    {"_operator.mod", "aten::remainder"},
    {"_operator.neg", "aten::neg"},
    {"_operator.eq", "aten::eq"},
    {"_operator.ne", "aten::ne"},
    {"_operator.lt", "aten::lt"},
    {"_operator.le", "aten::le"},
    {"_operator.gt", "aten::gt"},
    {"_operator.ge", "aten::ge"},
    {"_operator.and_", "aten::__and__"},
    {"_operator.or_", "aten::__or__"},
    {"torch.sym_not", "aten::__not__"},
    {"torch.sym_int", "aten::Int"},
    {"torch.sym_float", "aten::Float"},
    {"torch.sym_max", "prim::max"},
    {"torch.sym_min", "prim::min"},
    {"math.ceil", "aten::ceil"},
    {"math.floor", "aten::floor"},
    {"math.sqrt", "aten::sqrt"},
    {"torch.sym_sqrt", "aten::sqrt"},
    {"torch._sym_sqrt", "aten::sqrt"},
    {"aten.sym_size.int", "aten::size"},
    {"aten.sym_size.default", "aten::size"},
    {"aten.sym_stride.int", "aten::stride"},
    {"aten.sym_numel.default", "aten::numel"},
};

// Returns base ** exponent. In Python an integer to the power of an integer of 0 or more is an integer; aten::pow gives
// a float.
torch::jit::Value* power_of(torch::jit::Graph& graph, const std::vector<torch::jit::NamedValue>& arguments) {
  torch::jit::Value *base = arguments[0].value(graph), *exponent = arguments[1].value(graph);
  const auto is_integer = [](const torch::jit::Value* value) {
    return value->type()->isSubtypeOf(*c10::IntType::get());
  };
  const auto known = torch::jit::toIValue(exponent);
  const bool is_whole = is_integer(base) && is_integer(exponent);
  if (!is_whole || (known && known->toInt() < 0)) return graph.insert(c10::aten::pow, {base, exponent});
  constexpr int64_t kMostFactors = 8;
  if (known && known->toInt() == 0) return graph.insertConstant(int64_t{1});
  if (!known || known->toInt() > kMostFactors) {
    return graph.insert(c10::Symbol::aten("Int"), {graph.insert(c10::aten::pow, {base, exponent})});
  }
  torch::jit::Value* product = base;
  for (int64_t i = 1; i < known->toInt(); ++i) product = graph.insert(c10::aten::mul, {product, base});
  return product;
}

bool is_of_sizes(const std::string& target) {
  static const std::vector<std::string> prefixes = {"_operator.", "math.", "torch.sym_", "torch._sym_"};
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return target.rfind(prefix, 0) == 0; });
}

}  // namespace

bool add_size_node(torch::jit::Graph& graph, const ExportNode& node, ExportScope& scope) {
  const bool is_power = node.target == "_operator.pow";
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const NumberFunction& each) { return node.target == each.target; });
  if (found == std::end(kFunctions) && !is_power) {
    if (is_of_sizes(node.target)) {
      refuse_node(node, "a function of sizes that TorchScript lacks; compute it before the model");
    }
    if (node.target.rfind("torch.", 0) == 0) {
      refuse_node(node,
                  "a function of PyTorch 2 that is no operator, and TorchScript has none like it; replace it in "
                  "the model");
    }
    return false;
  }
  std::vector<torch::jit::NamedValue> arguments;
  for (const json& input : list_of(member(node.json, "inputs"))) {
    arguments.emplace_back(value_of(graph, member(input, "arg"), scope));
  }
  torch::jit::Value* result = nullptr;
  try {
    if (is_power && arguments.size() != 2) throw std::invalid_argument("a power of other than two numbers");
    result = is_power ? power_of(graph, arguments) : graph.insert(c10::Symbol::fromQualString(found->kind), arguments);
  } catch (const std::exception&) {
    fail_export(fmt::format("{}{}: its arguments are not of the types that it takes", place_of(node), node.target));
  }
  name_results(node, {result}, scope);
  return true;
}

}  // namespace nnapi_convert
