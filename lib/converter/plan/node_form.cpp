// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/plan/node_form.h"

#include <torch/csrc/jit/ir/constants.h>

#include <sstream>
#include <unordered_map>

#include "lib/converter/graph/glue.h"

namespace nnapi_convert {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// Thrown for a value that is no tensor and no sizes, and for a constant of more than numbers and texts.
struct NoForm {};

class FormWriter {
 public:
  explicit FormWriter(const TypeMap& types) : types_(types) {}

  std::string of(const Node& node) {
    if (!node.blocks().empty() || node.maybeSchema() == nullptr) throw NoForm();
    text_ << node.kind().toQualString() << '.' << node.schema().overload_name();
    for (const Value* input : node.inputs()) write(*input);
    for (const Value* output : node.outputs()) {
      text_ << (output->hasUses() ? ";read " : ";unread ");
      write_type(*output);
    }
    return text_.str();
  }

 private:
  void write(const Value& value) {
    text_ << ';';
    if (value.node()->kind() == c10::prim::Constant) return write_constant(value);
    if (is_glue(*value.node())) {
      text_ << value.node()->kind().toQualString() << '(';
      for (const Value* input : value.node()->inputs()) write(*input);
      text_ << ')';
      return;
    }
    text_ << numbers_.try_emplace(&value, numbers_.size()).first->second << ':';
    write_type(value);
  }

  void write_constant(const Value& value) {
    const auto constant = torch::jit::toIValue(&value);
    if (!constant || constant->isTensor() || constant->isObject()) throw NoForm();
    const bool holds_tensors = constant->isTensorList() || constant->isTuple() || constant->isGenericDict();
    if (holds_tensors || (constant->isList() && constant->toListRef().size() > kMostElements)) throw NoForm();
    text_ << constant->tagKind() << ' ' << *constant;
  }

  void write_type(const Value& value) {
    const auto known = types_.find(&value);
    if (known == types_.end()) {
      text_ << "unknown " << value.type()->repr_str();
    } else if (const auto* type = std::get_if<TensorType>(&known->second)) {
      text_ << to_text(*type);
    } else if (const auto* sizes = std::get_if<Dims>(&known->second)) {
      text_ << to_text(*sizes);
    } else {
      throw NoForm();
    }
  }

  static constexpr size_t kMostElements = 64;  // of a list of constants
  const TypeMap& types_;
  std::ostringstream text_;
  std::unordered_map<const Value*, size_t> numbers_;
};

}  // namespace

std::optional<std::string> form_of(const Node& node, const TypeMap& types) {
  try {
    return FormWriter(types).of(node);
  } catch (const NoForm&) {
    return std::nullopt;
  }
}

}  // namespace nnapi_convert
