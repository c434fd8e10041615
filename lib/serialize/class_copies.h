// SPDX-License-Identifier: BSD-3-Clause
// Copies objects that an emitted module keeps, and their classes, into the module's own compilation unit.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/api/compilation_unit.h>

#include <memory>
#include <unordered_map>

namespace nnapi_convert {

// Returns true for a class that is no module class.
bool is_object(const c10::Type& type);
// Returns true for such a class, and for a type that holds objects of such a class at any depth.
bool holds_objects(const c10::Type& type);

// Returns true if ClassCopies can copy values of the type: the type is and holds no module and no class defined in C++.
bool can_copy_values_of(const c10::TypePtr& type);

// A copy of a class has the original's attributes but no methods: inlined graphs call none.
class ClassCopies {
 public:
  explicit ClassCopies(std::shared_ptr<torch::jit::CompilationUnit> unit) : unit_(std::move(unit)) {}

  // Returns the copied type; the type of a copy stays as it is.
  c10::TypePtr type(const c10::TypePtr& original);
  // Copies a value. Copies an object once even if it is reached twice; keeps values without objects of scripted
  // classes.
  c10::IValue value(const c10::IValue& original);

 private:
  c10::IValue object_copy(const c10::intrusive_ptr<c10::ivalue::Object>& object);
  c10::ClassTypePtr class_copy(const c10::ClassTypePtr& original);

  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  std::unordered_map<const c10::ClassType*, c10::ClassTypePtr> types_;  // original to copy; a copy maps to itself
  std::unordered_map<const c10::ivalue::Object*, c10::IValue> objects_;
};

}  // namespace nnapi_convert
