#include "lib/converter/frontend/plain_forms.h"

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
  const char* function;  // TorchScript; takes the operator's arguments in the schema's order
};

// The TorchScript forms. A form clones a view of the argument if the operator returns new memory.
constexpr PlainForm kForms[] = {
    {"aten::narrow_copy", R"(
def form(self, dim: int, start: int, length: int):
    return torch.narrow(self, dim, start, length).clone()
)"},
    {"aten::convolution", R"(
def form(input, weight, bias: Optional[Tensor], stride: List[int], padding: List[int], dilation: List[int],
         transposed: bool, output_padding: List[int], groups: int):
    return torch._convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups,
                              False, False, True, True)
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
