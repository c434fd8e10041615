#include "lib/converter/frontend/plain_forms.h"

#include <map>
#include <string>

#include "lib/converter/graph/insert_form.h"

namespace nnapi_convert {
namespace {

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

}  // namespace

std::vector<Value*> plain_form(Node& node) {
  const char* function = function_for(node);
  return function == nullptr ? std::vector<Value*>{} : insert_form(node, function);
}

}  // namespace nnapi_convert
