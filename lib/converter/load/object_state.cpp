// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/object_state.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/function.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <utility>

#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/load/float16_linears.h"

namespace nnapi_convert {
namespace {

using c10::ClassType;

void set_types_of_elements(c10::IValue value, const c10::TypePtr& element) {
  auto list = value.toList();
  list.unsafeSetElementType(element);
  if (element->containedTypes().empty()) return;  // long lists of numbers have no types within
  for (size_t i = 0; i < list.size(); ++i) set_element_types(list.get(i), element);
}

void set_types_of_entries(c10::IValue value, const c10::DictType& type) {
  auto dict = value.toGenericDict();
  dict.unsafeSetKeyType(type.getKeyType());
  dict.unsafeSetValueType(type.getValueType());
  for (const auto& entry : dict) {
    set_element_types(entry.key(), type.getKeyType());
    set_element_types(entry.value(), type.getValueType());
  }
}

void check_attributes(const c10::ivalue::Object& object, const ClassType& type) {
  for (size_t i = 0; i < type.numAttributes(); ++i) {
    const c10::TypePtr& needed = type.getAttribute(i);
    if (!object.getSlot(i).isNone() || c10::NoneType::get()->isSubtypeOf(*needed)) continue;
    TORCH_CHECK(false, "__setstate__ of ", type.name()->qualifiedName(), " gives ", type.getAttributeName(i),
                " no value; its type is ", needed->repr_str());
  }
}

void restore(const c10::intrusive_ptr<c10::ivalue::Object>& object, const ClassType& type, c10::IValue state) {
  keep_float16_weights(type);
  choose_quantised_engine_for(type);
  torch::jit::Function& set_state = type.getMethod("__setstate__");
  const auto& arguments = set_state.getSchema().arguments();
  TORCH_CHECK(arguments.size() == 2, "__setstate__ of ", type.name()->qualifiedName(), " takes ", arguments.size(),
              " arguments, 2 needed");
  set_element_types(state, arguments[1].type());
  // Optimising the function would specialise it for attributes that have no values yet.
  const torch::jit::GraphOptimizerEnabledGuard no_optimiser(false);
  set_state({object, std::move(state)});
  check_attributes(*object, type);
}

}  // namespace

void set_element_types(const c10::IValue& value, const c10::TypePtr& type) {
  if (const auto optional = type->cast<c10::OptionalType>()) {
    if (!value.isNone()) set_element_types(value, optional->getElementType());
  } else if (const auto list = type->cast<c10::ListType>(); list && value.isList()) {
    set_types_of_elements(value, list->getElementType());
  } else if (const auto dict = type->cast<c10::DictType>(); dict && value.isGenericDict()) {
    set_types_of_entries(value, *dict);
  } else if (const auto tuple = type->cast<c10::TupleType>(); tuple && value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    const size_t count = std::min(elements.size(), tuple->elements().size());
    for (size_t i = 0; i < count; ++i) set_element_types(elements[i], tuple->elements()[i]);
  } else if (const auto object = type->cast<ClassType>(); object && value.isObject()) {
    const auto& slots = value.toObjectRef().slots();
    const size_t count = std::min(slots.size(), object->numAttributes());
    for (size_t i = 0; i < count; ++i) set_element_types(slots[i], object->getAttribute(i));
  }
}

c10::intrusive_ptr<c10::ivalue::Object> make_object(const c10::StrongTypePtr& type, c10::IValue state) {
  const auto class_type = type.type_->expect<ClassType>();
  if (auto linear = float16_linear_of(*class_type, state)) return linear;
  auto object = c10::ivalue::Object::create(type, class_type->numAttributes());
  const bool has_own_state =
      class_type->findMethod("__getstate__") != nullptr && class_type->findMethod("__setstate__") != nullptr;
  if (has_own_state) {
    restore(object, *class_type, std::move(state));
    return object;
  }
  const auto attributes = std::move(state).toGenericDict();
  for (size_t i = 0; i < class_type->numAttributes(); ++i) {
    object->setSlot(i, attributes.at(class_type->getAttributeName(i)));
  }
  return object;
}

}  // namespace nnapi_convert
