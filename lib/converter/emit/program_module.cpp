// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/program_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace nnapi_convert {
namespace {

bool has_compilation(const c10::intrusive_ptr<c10::ivalue::Object>& object) {
  return object->type()->findAttributeSlot(kCompilationAttribute).has_value() &&
         object->getAttr(kCompilationAttribute).isCustomClass();
}

}  // namespace

std::string program_type(const c10::TypePtr& type) {
  const auto texts_of = [](const auto& types) {
    std::string text;
    for (const c10::TypePtr& each : types) text += (text.empty() ? "" : ", ") + program_type(each);
    return text;
  };
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return "Tensor";
    case c10::TypeKind::IntType:
      return "int";
    case c10::TypeKind::FloatType:
      return "float";
    case c10::TypeKind::BoolType:
      return "bool";
    case c10::TypeKind::StringType:
      return "str";
    case c10::TypeKind::NoneType:
      return "NoneType";
    case c10::TypeKind::OptionalType:
      return fmt::format("Optional[{}]", texts_of(type->containedTypes()));
    case c10::TypeKind::ListType:
      return fmt::format("List[{}]", texts_of(type->containedTypes()));
    case c10::TypeKind::DictType:
      return fmt::format("Dict[{}]", texts_of(type->containedTypes()));
    case c10::TypeKind::TupleType: {
      const auto& tuple = type->expectRef<c10::TupleType>();
      if (tuple.schema() == nullptr) return fmt::format("Tuple[{}]", texts_of(tuple.elements()));
      std::string text;
      for (const c10::Argument& field : tuple.schema()->arguments())
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field.name(), program_type(field.type()));
      return fmt::format("NamedTuple[{}]", text);
    }
    default:
      throw std::invalid_argument("a value of type " + type->repr_str());
  }
}

ModuleParts::ModuleParts(const torch::jit::Module& module) : module_(module) {
  if (has_compilation(module._ivalue())) segments_.emplace_back();  // the module itself
  for (const auto& attribute : module.named_attributes(/*recurse=*/false)) {
    if (attribute.value.isObject() && has_compilation(attribute.value.toObject())) segments_.push_back(attribute.name);
  }
}

std::optional<uint32_t> ModuleParts::segment(const std::string& name) const {
  const auto found = std::find(segments_.begin(), segments_.end(), name);
  if (found == segments_.end()) return std::nullopt;
  return static_cast<uint32_t>(found - segments_.begin());
}

uint32_t ModuleParts::field(const std::string& name) {
  const auto found = std::find(fields_.begin(), fields_.end(), name);
  if (found != fields_.end()) return static_cast<uint32_t>(found - fields_.begin());
  fields_.push_back(name);
  return static_cast<uint32_t>(fields_.size() - 1);
}

uint32_t ModuleParts::write_state(ProgramWriter& writer) const {
  std::vector<uint32_t> numbers;
  for (const std::string& name : fields_) numbers.push_back(writer.constant(module_.attr(name)));
  return writer.object(numbers);
}

}  // namespace nnapi_convert
