#include "lib/serialize/source_text.h"

#include <fmt/format.h>

namespace nnapi_convert {

std::string number(double value) {
  const std::string text = fmt::format("{}", value);  // the shortest text that reads back the same
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string return_type(const ReturnTree& tree) {
  if (tree.kind == ReturnTree::Kind::kTensor) return "Tensor";
  if (tree.kind == ReturnTree::Kind::kList) return fmt::format("List[{}]", return_type(tree.elements.front()));
  std::string text;
  for (const ReturnTree& element : tree.elements) text += (text.empty() ? "" : ", ") + return_type(element);
  return "Tuple[" + text + "]";
}

std::string bundled_methods(const std::string& class_name, const std::string& bundled_type) {
  if (bundled_type.empty()) return "";
  return fmt::format(
      "  def get_all_bundled_inputs(self: {0}) -> List[{1}]:\n"
      "    return self.bundled_inputs\n"
      "  def get_num_bundled_inputs(self: {0}) -> int:\n"
      "    return torch.len(self.bundled_inputs)\n",
      class_name, bundled_type);
}

}  // namespace nnapi_convert
