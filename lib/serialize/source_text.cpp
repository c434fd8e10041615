#include "lib/serialize/source_text.h"

#include <c10/util/StringUtil.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace nnapi_convert {

std::string number(double value) {
  const std::string text = fmt::format("{}", value);  // the shortest text that reads back the same
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

namespace {

// Returns the types of a list's or dict's elements, each once.
std::vector<std::string> element_types(const ReturnTree& tree) {
  std::vector<std::string> types;
  for (const ReturnTree& element : tree.elements) {
    std::string type = return_type(element);
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(std::move(type));
  }
  return types;
}

std::string element_type(const ReturnTree& tree) {
  const std::vector<std::string> types = element_types(tree);
  return types.size() == 1 ? types.front() : fmt::format("Union[{}]", fmt::join(types, ", "));
}

std::string literal(const ReturnTree& tree, const std::vector<std::string>& elements) {
  if (tree.kind == ReturnTree::Kind::kList) return fmt::format("[{}]", fmt::join(elements, ", "));
  std::string text;
  for (size_t i = 0; i < elements.size(); ++i) {
    text += fmt::format("{}{}: {}", i ? ", " : "", quoted(tree.keys[i]), elements[i]);
  }
  return "{" + text + "}";
}

}  // namespace

std::string return_type(const ReturnTree& tree) {
  if (tree.kind == ReturnTree::Kind::kTensor) return "Tensor";
  if (tree.kind == ReturnTree::Kind::kList) return fmt::format("List[{}]", element_type(tree));
  if (tree.kind == ReturnTree::Kind::kDict) return fmt::format("Dict[str, {}]", element_type(tree));
  if (tree.named != nullptr) return tree.named->annotation_str();
  std::string text;
  for (const ReturnTree& element : tree.elements) text += (text.empty() ? "" : ", ") + return_type(element);
  return "Tuple[" + text + "]";
}

std::string quoted(const std::string& text) {
  std::ostringstream stream;
  c10::printQuotedString(stream, text);
  return stream.str();
}

std::string collection(const ReturnTree& tree, const std::vector<std::string>& elements) {
  if (tree.kind == ReturnTree::Kind::kList || tree.kind == ReturnTree::Kind::kDict) {
    const bool is_mixed = element_types(tree).size() > 1;
    return is_mixed ? fmt::format("annotate({}, {})", return_type(tree), literal(tree, elements))
                    : literal(tree, elements);
  }
  if (tree.named != nullptr) return fmt::format("{}({})", return_type(tree), fmt::join(elements, ", "));
  return elements.size() == 1 ? "(" + elements[0] + ",)" : fmt::format("({})", fmt::join(elements, ", "));
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
