// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/class_copies.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "lib/base/error.h"

namespace nnapi_convert {
namespace {

// Returns true for classes with attributes to copy: no modules, and no classes defined in C++.
bool is_scripted(const c10::ClassType& type) {
  return !type.is_module() && type.name() && type.name()->qualifiedName().rfind("__torch__.torch.classes.", 0) != 0;
}

// Returns whether values can be copied. `seen` ends the recursion for classes with attributes of their own type.
bool can_copy(const c10::TypePtr& type, std::unordered_set<const c10::ClassType*>& seen) {
  const auto object = type->cast<c10::ClassType>();
  if (!object) {
    const auto contained = type->containedTypes();
    return type->kind() != c10::TypeKind::InterfaceType &&
           std::all_of(contained.begin(), contained.end(), [&](const auto& part) { return can_copy(part, seen); });
  }
  if (!is_scripted(*object)) return false;
  if (!seen.insert(object.get()).second) return true;
  const std::vector<c10::ClassAttribute> attributes = object->getAttributes();
  return std::all_of(attributes.begin(), attributes.end(),
                     [&](const c10::ClassAttribute& attribute) { return can_copy(attribute.getType(), seen); });
}

}  // namespace

bool is_object(const c10::Type& type) {
  return type.kind() == c10::TypeKind::ClassType && !type.is_module();
}

bool holds_objects(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::ClassType) return is_object(type);
  const auto contained = type.containedTypes();
  return std::any_of(contained.begin(), contained.end(), [](const auto& part) { return holds_objects(*part); });
}

bool can_copy_values_of(const c10::TypePtr& type) {
  std::unordered_set<const c10::ClassType*> seen;
  return can_copy(type, seen);
}

c10::TypePtr ClassCopies::type(const c10::TypePtr& original) {
  if (const auto object = original->cast<c10::ClassType>()) return is_scripted(*object) ? class_copy(object) : original;
  if (!holds_objects(*original)) return original;
  std::vector<c10::TypePtr> contained;
  for (const c10::TypePtr& part : original->containedTypes()) contained.push_back(type(part));
  return original->withContained(std::move(contained));
}

c10::ClassTypePtr ClassCopies::class_copy(const c10::ClassTypePtr& original) {
  const auto found = types_.find(original.get());
  if (found != types_.end()) return found->second;
  const c10::ClassTypePtr copy = c10::ClassType::create(original->name(), unit_, false);
  types_.emplace(original.get(), copy);
  types_.emplace(copy.get(), copy);
  for (const c10::ClassAttribute& attribute : original->getAttributes()) {
    copy->addAttribute(attribute.getName(), type(attribute.getType()));
  }
  unit_->register_type(copy);
  return copy;
}

c10::IValue ClassCopies::value(const c10::IValue& original) {
  if (original.isObject()) {
    return is_scripted(*original.toObject()->type()) ? object_copy(original.toObject()) : original;
  }
  if (!holds_objects(*original.type())) return original;
  if (original.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const c10::IValue& element : original.toTupleRef().elements()) elements.push_back(value(element));
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (original.isGenericDict()) {
    const auto entries = original.toGenericDict();
    c10::impl::GenericDict copy(type(entries.keyType()), type(entries.valueType()));
    for (const auto& entry : entries) copy.insert(value(entry.key()), value(entry.value()));
    return copy;
  }
  NNC_ASSERT(original.isList(), original.tagKind());
  c10::impl::GenericList copy(type(original.toList().elementType()));
  for (const c10::IValue& element : original.toListRef()) copy.push_back(value(element));
  return copy;
}

c10::IValue ClassCopies::object_copy(const c10::intrusive_ptr<c10::ivalue::Object>& object) {
  const auto found = objects_.find(object.get());
  if (found != objects_.end()) return found->second;
  const size_t count = object->slots().size();
  const c10::ClassTypePtr copied = class_copy(object->type());
  const auto copy = c10::ivalue::Object::create(c10::StrongTypePtr(unit_, copied), count);
  objects_.emplace(object.get(), copy);
  for (size_t i = 0; i < count; ++i) copy->setSlot(i, value(object->getSlot(i)));
  return copy;
}

}  // namespace nnapi_convert
