// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/source_text.h"

#include <fmt/format.h>

#include <algorithm>

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

bool is_optional_tensor(const ReturnTree& tree) {
  return tree.kind == ReturnTree::Kind::kTensor && tree.declared != nullptr &&
         tree.declared->kind() == c10::TypeKind::OptionalType;
}

std::string element_type(const ReturnTree& tree) {
  const std::vector<std::string> types = element_types(tree);
  return types.size() == 1 ? types.front() : fmt::format("Union[{}]", fmt::join(types, ", "));
}

std::string elements_text(const ReturnTree& tree, const std::vector<std::string>& elements) {
  if (tree.kind == ReturnTree::Kind::kList) return fmt::format("[{}]", fmt::join(elements, ", "));
  std::string text;
  for (size_t i = 0; i < elements.size(); ++i) {
    text += fmt::format("{}{}: {}", i ? ", " : "", literal(tree.keys[i]), elements[i]);
  }
  return "{" + text + "}";
}

}  // namespace

std::string return_type(const ReturnTree& tree) {
  if (is_optional_tensor(tree)) return tree.declared->annotation_str();
  if (tree.kind == ReturnTree::Kind::kTensor) return "Tensor";
  const bool is_empty = tree.elements.empty() && tree.declared != nullptr;
  if (is_empty) return tree.declared->annotation_str();
  if (tree.kind == ReturnTree::Kind::kList) return fmt::format("List[{}]", element_type(tree));
  if (tree.kind == ReturnTree::Kind::kDict) {
    const std::string key = tree.keys.empty() ? "str" : key_type(tree.keys[0])->annotation_str();
    return fmt::format("Dict[{}, {}]", key, element_type(tree));
  }
  if (tree.named != nullptr) return tree.named->annotation_str();
  std::string text;
  for (const ReturnTree& element : tree.elements) text += (text.empty() ? "" : ", ") + return_type(element);
  return "Tuple[" + text + "]";
}

std::string literal(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isString()) return string_literal(value.toStringRef());
  if (value.isBool()) return value.toBool() ? "True" : "False";
  return value.isInt() ? std::to_string(value.toInt()) : number(value.toDouble());
}

bool is_named_key(const c10::Type& type) {
  return type.kind() == c10::TypeKind::StringType || type.kind() == c10::TypeKind::IntType ||
         type.kind() == c10::TypeKind::FloatType || type.kind() == c10::TypeKind::BoolType;
}

std::string key_text(const c10::IValue& key) {
  return key.isString() ? key.toStringRef() : literal(key);
}

c10::TypePtr key_type(const c10::IValue& key) {
  if (key.isString()) return c10::StringType::get();
  if (key.isBool()) return c10::BoolType::get();
  return key.isInt() ? c10::TypePtr(c10::IntType::get()) : c10::TypePtr(c10::FloatType::get());
}

// torch.format() puts a value in the place of each "{}", also of one within a name.
std::string message(const std::vector<MessagePart>& parts) {
  constexpr const char* kPlace = "{}";
  std::string pattern, arguments, text;
  const auto end_text = [&] {
    for (size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at + 2)) {
      arguments += ", " + string_literal(kPlace);
    }
    pattern += text;
    text.clear();
  };
  for (const MessagePart& part : parts) {
    if (!part.is_expression) {
      text += part.text;
      continue;
    }
    end_text();
    pattern += kPlace;
    arguments += ", " + part.text;
  }
  end_text();
  return arguments.empty() ? string_literal(pattern)
                           : fmt::format("torch.format({}{})", string_literal(pattern), arguments);
}

std::string collection(const ReturnTree& tree, const std::vector<std::string>& elements) {
  if (tree.kind == ReturnTree::Kind::kList || tree.kind == ReturnTree::Kind::kDict) {
    const bool is_said = element_types(tree).size() == 1 && !is_optional_tensor(tree.elements[0]);
    return !is_said ? fmt::format("annotate({}, {})", return_type(tree), elements_text(tree, elements))
                    : elements_text(tree, elements);
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
