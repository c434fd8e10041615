#include "lib/converter/plain_forms.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/frontend/resolver.h>

#include <map>
#include <memory>
#include <string>

namespace nnapi_convert {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

struct PlainForm {
  const char* schema;    // name and overload
  const char* function;  // of the operator's arguments, in its schema's order
};

// A view of the operator's argument is copied where the operator gives new memory.
constexpr PlainForm kForms[] = {
    {"aten::aminmax", R"(
def form(self, dim: Optional[int], keepdim: bool):
    if dim is None:
        low, high = torch.amin(self, [], keepdim), torch.amax(self, [], keepdim)
    else:
        low, high = torch.amin(self, [dim], keepdim), torch.amax(self, [dim], keepdim)
    return low, high
)"},
    {"aten::count_nonzero", R"(
def form(self, dim: Optional[int]):
    if dim is None:
        count = torch.ne(self, 0).sum()
    else:
        count = torch.ne(self, 0).sum([dim])
    return count
)"},
    {"aten::count_nonzero.dim_IntList", R"(
def form(self, dim: List[int]):
    return torch.ne(self, 0).sum(dim)
)"},
    {"aten::isposinf", R"(
def form(self):
    return torch.eq(self, float('inf'))
)"},
    {"aten::isneginf", R"(
def form(self):
    return torch.eq(self, float('-inf'))
)"},
    {"aten::sgn", R"(
def form(self):
    return torch.sign(self)
)"},
    // -0.0 is negative, too.
    {"aten::signbit", R"(
def form(self):
    return torch.logical_or(torch.lt(self, 0), torch.lt(torch.reciprocal(self), 0))
)"},
    {"aten::copysign.Tensor", R"(
def form(self, other):
    size = torch.abs(self) * 1.0
    is_negative = torch.logical_or(torch.lt(other, 0), torch.lt(torch.reciprocal(other), 0))
    return torch.where(is_negative, -size, size)
)"},
    {"aten::logaddexp2", R"(
def form(self, other):
    rest = torch.log2(torch.exp2(-torch.abs(self - other)) + 1)
    return torch.where(torch.eq(self, other), self + 1, torch.maximum(self, other) + rest)
)"},
    {"aten::narrow_copy", R"(
def form(self, dim: int, start: int, length: int):
    return torch.narrow(self, dim, start, length).clone()
)"},
    {"aten::diag", R"(
def form(self, diagonal: int):
    if self.dim() == 1:
        result = torch.diag_embed(self, diagonal, 0, 1)
    else:
        result = torch.diagonal(self, diagonal, 0, 1).clone()
    return result
)"},
    {"aten::isin.Tensor_Tensor", R"(
def form(elements, test_elements, assume_unique: bool, invert: bool):
    found = torch.eq(torch.unsqueeze(elements, -1), torch.flatten(test_elements)).any(-1)
    if invert:
        found = torch.logical_not(found)
    return found
)"},
    {"aten::isin.Tensor_Scalar", R"(
def form(elements, test_element: number, assume_unique: bool, invert: bool):
    if invert:
        found = torch.ne(elements, test_element)
    else:
        found = torch.eq(elements, test_element)
    return found
)"},
};

const char* function_for(const Node& node) {
  static const std::map<std::string, const char*> functions = [] {
    std::map<std::string, const char*> result;
    for (const PlainForm& form : kForms) result.emplace(form.schema, form.function);
    return result;
  }();
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr) return nullptr;
  const std::string overload = schema->overload_name().empty() ? "" : "." + schema->overload_name();
  const auto found = functions.find(schema->name() + overload);
  return found == functions.end() ? nullptr : found->second;
}

std::shared_ptr<Graph> compiled(const char* function) {
  torch::jit::CompilationUnit unit;
  unit.define(c10::nullopt, function, torch::jit::nativeResolver(), nullptr);
  return torch::jit::toGraphFunction(unit.get_function("form")).graph()->copy();
}

void place_at(Node& inserted, Node& original) {
  inserted.setSourceRange(original.sourceRange());
  inserted.setScope(original.scope());
  for (torch::jit::Block* block : inserted.blocks()) {
    for (Node* inner : block->nodes()) place_at(*inner, original);
  }
}

}  // namespace

std::vector<Value*> plain_form(Node& node) {
  const char* function = function_for(node);
  if (function == nullptr) return {};
  const std::shared_ptr<Graph> graph = compiled(function);
  torch::jit::WithInsertPoint here(&node);
  Node* before = node.prev();
  std::vector<Value*> results = torch::jit::insertGraph(*node.owningGraph(), *graph, node.inputs());
  if (node.outputs().size() > 1) {  // the form gives a tuple
    const auto elements = results.at(0)->node()->inputs();
    results.assign(elements.begin(), elements.end());
  }
  for (Node* inserted = before->next(); inserted != &node; inserted = inserted->next()) place_at(*inserted, node);
  return results;
}

}  // namespace nnapi_convert
