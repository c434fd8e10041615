// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/wild_arguments.h"

#include <c10/core/ScalarType.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cmath>
#include <optional>

#include "lib/base/error.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/converter/load/newer_operators.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

constexpr double kMostElements = 8.6e9;  // 2^33: two times what NNAPI's operands address in bytes

[[noreturn]] void refuse(const Node& node, const std::string& found, const std::string& needed) {
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("{}: {}: {}; needed: {}", source_of(node), node.kind().toQualString(), found, needed));
}

// Returns the product of the list's constant numbers: all others are 1 or more where there is something to compute.
double elements_of(const Value& list) {
  double count = 1;
  for (const Value* size : list.node()->inputs()) {
    const auto constant = torch::jit::toIValue(size);
    if (constant && constant->isInt() && constant->toInt() > 0) count *= static_cast<double>(constant->toInt());
    if (constant && constant->isInt() && constant->toInt() == 0) return 0;
  }
  return count;
}

bool holds_sizes(const std::string& argument) {
  return argument == "size" || argument == "sizes" || argument == "repeats" || argument == "output_size";
}

void check(const Node& node) {
  const c10::FunctionSchema* schema = node.kind().is_aten() ? node.maybeSchema() : nullptr;
  if (schema == nullptr) return;
  for (size_t i = 0; i < schema->arguments().size() && i < node.inputs().size(); ++i) {
    const std::string& name = schema->arguments()[i].name();
    const Value& value = *node.input(i);
    if (name == "dtype") {
      const auto constant = torch::jit::toIValue(&value);
      if (!constant || !constant->isInt()) continue;
      const int64_t dtype = constant->toInt();
      const auto end = static_cast<int64_t>(c10::ScalarType::Undefined);
      if (dtype < 0 || dtype >= end) {
        refuse(node, fmt::format("dtype {}", dtype), fmt::format("the number of a dtype, 0 to {}", end - 1));
      }
    } else if (holds_sizes(name) && value.node()->kind() == c10::prim::ListConstruct) {
      const double count = elements_of(value);
      if (count > kMostElements) refuse(node, fmt::format("{:.3g} elements", count), "what a tensor of NNAPI can hold");
    }
  }
}

}  // namespace

void check_constant_arguments(const torch::jit::Module& module) {
  for (const std::shared_ptr<torch::jit::Graph>& graph : saved_graphs(module)) {
    for_each_node(*graph, [](const Node& node) { check(node); });
  }
}

}  // namespace nnapi_convert
