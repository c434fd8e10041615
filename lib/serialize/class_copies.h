// Classes of objects that an emitted module keeps, and the objects, in the module's own compilation unit.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/api/compilation_unit.h>

#include <memory>
#include <unordered_map>

namespace nnapi_convert {

// True for classes of objects: those that are no modules.
bool is_object(const c10::Type& type);
// True for them, and for what holds objects of one, at any depth.
bool holds_objects(const c10::Type& type);

// True for what ClassCopies can copy the values of: not for what is or holds a module or an object of a class that C++
// defines.
bool can_copy_values_of(const c10::TypePtr& type);

// Copies of classes have the attributes of the originals and no methods: graphs call none once they are inlined.
class ClassCopies {
 public:
  explicit ClassCopies(std::shared_ptr<torch::jit::CompilationUnit> unit) : unit_(std::move(unit)) {}

  // A copy stays as it is.
  c10::TypePtr type(const c10::TypePtr& original);
  // An object that is reached twice is copied once; what holds no object of a scripted class stays as it is.
  c10::IValue value(const c10::IValue& original);

 private:
  c10::IValue object_copy(const c10::intrusive_ptr<c10::ivalue::Object>& object);
  c10::ClassTypePtr class_copy(const c10::ClassTypePtr& original);

  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  std::unordered_map<const c10::ClassType*, c10::ClassTypePtr> types_;  // of copies too: they are their own
  std::unordered_map<const c10::ivalue::Object*, c10::IValue> objects_;
};

}  // namespace nnapi_convert
