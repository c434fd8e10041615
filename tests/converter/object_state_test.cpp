// SPDX-License-Identifier: BSD-3-Clause
// Objects are made of what was pickled for them.
#include "lib/converter/load/object_state.h"

#include <ATen/ATen.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/api/module.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/converter/fixtures.h"

using namespace nnapi_convert;
using namespace nnapi_convert::test;

namespace {

torch::jit::Module module_of(const std::string& source) {
  torch::jit::Module module("stateful");
  module.register_attribute("weight", c10::TensorType::get(), at::ones({2}));
  module.register_attribute("bias", c10::OptionalType::create(c10::TensorType::get()), c10::IValue());
  module.define(source);
  return module;
}

c10::StrongTypePtr type_of(const torch::jit::Module& module) {
  return {module._ivalue()->compilation_unit(), module.type()};
}

// The message of the exception; empty if there is none.
std::string message_of(const torch::jit::Module& module, const c10::IValue& state) {
  try {
    make_object(type_of(module), state);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

c10::impl::GenericDict attributes(std::initializer_list<const char*> names) {
  c10::impl::GenericDict result(c10::StringType::get(), c10::AnyType::get());
  for (const char* name : names) result.insert(name, at::full({2}, 3.0));
  return result;
}

}  // namespace

TEST_CASE("object state: attributes by their names") {
  const torch::jit::Module module = module_of("def forward(self, x):\n  return x\n");
  const auto object = make_object(type_of(module), attributes({"bias", "weight", "training"}));
  CHECK(object->getAttr("weight").toTensor().equal(at::full({2}, 3.0)));
  CHECK(message_of(module, attributes({"weight"})) != "");
}

TEST_CASE("object state: __setstate__ has to give each attribute a value") {
  const char* const kGetState = "def __getstate__(self):\n  return self.weight\n";
  const auto with = [&](const std::string& set_state) { return module_of(kGetState + set_state); };
  const auto whole = with("def __setstate__(self, state: Tensor):\n  self.weight = state + 1.0\n");
  CHECK(make_object(type_of(whole), at::ones({2}))->getAttr("weight").toTensor().equal(at::full({2}, 2.0)));
  const auto without = with("def __setstate__(self, state: Tensor):\n  self.bias = state\n");
  CHECK_THAT(message_of(without, at::ones({2})), Catch::Contains("gives weight no value"));
  const auto two = with("def __setstate__(self, state: Tensor, more: Tensor):\n  self.weight = state\n");
  CHECK_THAT(message_of(two, at::ones({2})), Catch::Contains("takes 3 arguments, 2 needed"));
  CHECK(message_of(whole, 3) != "");  // of another type
}

TEST_CASE("object state: lists and dicts get the types of their elements") {
  c10::impl::GenericList sizes(c10::AnyType::get()), lists(c10::AnyType::get());
  sizes.push_back(int64_t{4});
  lists.push_back(sizes);
  c10::impl::GenericDict table(c10::AnyType::get(), c10::AnyType::get());
  table.insert("a", lists);
  const c10::IValue value = c10::ivalue::Tuple::create({c10::IValue(table), c10::IValue()});
  const auto list_type = c10::ListType::create(c10::ListType::ofInts());
  const auto dict_type = c10::DictType::create(c10::StringType::get(), list_type);
  set_element_types(value, c10::TupleType::create({c10::OptionalType::create(dict_type), dict_type}));
  CHECK(*table.keyType() == *c10::StringType::get());
  CHECK(*table.valueType() == *list_type);
  CHECK(*lists.elementType() == *c10::ListType::ofInts());
  CHECK(*sizes.elementType() == *c10::IntType::get());
  CHECK(c10::IValue(sizes).isIntList());
}
