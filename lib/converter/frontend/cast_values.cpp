// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/cast_values.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/script_literal.h"

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Returns the dtype of the element `each`, which has the key `key`, as TorchScript.
std::string dtype_by_key(const c10::TypePtr& dict, const CastTarget& target) {
  std::string dtype = "dtype";
  if (dict->containedType(0)->kind() != c10::TypeKind::StringType) return dtype;
  for (const auto& [key, other] : target.by_key) {
    dtype = fmt::format("({} if key == {} else {})", static_cast<int>(other), string_literal(key), dtype);
  }
  return dtype;
}

bool may_be_float64(const CastTarget& target) {
  const auto& others = target.by_key;
  return target.dtype == at::kDouble ||
         std::any_of(others.begin(), others.end(), [](const auto& other) { return other.second == at::kDouble; });
}

// Returns the part of a cast that is for complex numbers, which are as wide as the real ones that a model makes them
// of. Those of float16 are computed as complex64, as PyTorch computes none in complex32.
std::string complex_cast() {
  return fmt::format("x.to({}) if dtype == {} and x.is_complex() else ", static_cast<int>(at::kComplexDouble),
                     static_cast<int>(at::kDouble));
}

// Writes the TorchScript function of this number that casts the floating-point tensors in a value of the type, behind
// the functions that it calls.
std::string cast_function(const c10::TypePtr& type, const CastTarget& target, int& number) {
  const auto contained = type->containedTypes();
  std::string source;
  std::vector<std::string> calls;
  const auto call = [&](const c10::TypePtr& part, const std::string& value, const std::string& dtype = "dtype") {
    if (part->containedTypes().empty() && part->kind() != c10::TypeKind::TensorType) return value;
    source += cast_function(part, target, number);
    return fmt::format("cast_{}({}, {})", number - 1, value, dtype);
  };
  const std::string name = type->annotation_str();
  std::string body;
  switch (type->kind()) {
    case c10::TypeKind::ListType:
      body = fmt::format("    out: {} = []\n    for each in x:\n        out.append({})\n    return out\n", name,
                         call(contained[0], "each"));
      break;
    case c10::TypeKind::DictType:
      body = fmt::format("    out: {} = {{}}\n    for key, each in x.items():\n        out[key] = {}\n    return out\n",
                         name, call(contained[1], "each", dtype_by_key(type, target)));
      break;
    case c10::TypeKind::OptionalType:
      body = fmt::format("    out: {} = None\n    if x is not None:\n        out = {}\n    return out\n", name,
                         call(contained[0], "x"));
      break;
    case c10::TypeKind::TupleType:
      for (size_t i = 0; i < contained.size(); ++i) calls.push_back(call(contained[i], fmt::format("x[{}]", i)));
      body = fmt::format("    return ({},)\n", fmt::join(calls, ", "));
      break;
    default:
      body = fmt::format("    return x.to(dtype) if x.is_floating_point() else {}x\n",
                         may_be_float64(target) ? complex_cast() : "");
  }
  return source + fmt::format("def cast_{}(x: {}, dtype: int) -> {}:\n", number++, name, name) + body;
}

bool has_named_tuple(const c10::TypePtr& type) {
  const auto tuple = type->cast<c10::TupleType>();
  const auto contained = type->containedTypes();
  return (tuple != nullptr && tuple->name()) || std::any_of(contained.begin(), contained.end(), has_named_tuple);
}

}  // namespace

void refuse_widths(const std::string& what) {
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("the model computes in another dtype than float32, and {}; needed: a model in "
                                 "float32; convert it with model.float()",
                                 what));
}

Value* insert_cast(Graph& graph, Value* value, const CastTarget& target) {
  if (has_named_tuple(value->type())) {
    refuse_widths(
        fmt::format("a named tuple is put into a list or taken as an argument: {}", value->type()->repr_str()));
  }
  int number = 0;
  torch::jit::CompilationUnit unit;
  const std::string source = cast_function(value->type(), target, number);
  unit.define(c10::nullopt, source, torch::jit::nativeResolver(), nullptr);
  const auto function = torch::jit::toGraphFunction(unit.get_function(fmt::format("cast_{}", number - 1))).graph();
  const std::shared_ptr<Graph> body = function->copy();
  torch::jit::Inline(*body);
  for (Node* node : body->nodes()) node->setSourceRange(value->node()->sourceRange());
  Value* asked = graph.insertConstant(static_cast<int64_t>(target.dtype));
  return torch::jit::insertGraph(graph, *body, std::vector<Value*>{value, asked}).at(0);
}

}  // namespace nnapi_convert
