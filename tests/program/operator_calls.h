// SPDX-License-Identifier: BSD-3-Clause
// Calls of operators in tests: values from C++'s, and results and refusals.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "lib/program/operators.h"

// Catch's header defines macros that other headers must not see.
#include <catch2/catch.hpp>

namespace nnapi_shim::program_testing {

using namespace nnapi_shim::program;

inline Value floats(Context& context, std::vector<int64_t> sizes, const std::vector<float>& elements) {
  Tensor* tensor = make_tensor(context.pool, ScalarType::kFloat32, static_cast<uint32_t>(sizes.size()), sizes.data());
  REQUIRE(tensor != nullptr);
  REQUIRE(tensor->numel() == static_cast<int64_t>(elements.size()));
  if (!elements.empty()) std::memcpy(tensor->storage->data, elements.data(), elements.size() * sizeof(float));
  return Value(tensor);
}

inline Value ints(Context& context, const std::vector<int64_t>& numbers) {
  Sequence* list = make_sequence(context.pool, Tag::kList, static_cast<uint32_t>(numbers.size()));
  for (size_t i = 0; i < numbers.size(); ++i) list->values[i] = Value(numbers[i]);
  return Value(list);
}

inline Value list(Context& context, const std::vector<Value>& values) {
  Sequence* sequence = make_sequence(context.pool, Tag::kList, static_cast<uint32_t>(values.size()));
  std::copy(values.begin(), values.end(), sequence->values);
  return Value(sequence);
}

inline Value text(Context& context, const char* characters) {
  return Value(make_string(context.pool, characters, std::strlen(characters)));
}

inline bool run(Context& context, const char* name, const std::vector<Value>& inputs, std::vector<Value>& outputs) {
  INFO(name);
  const Operator found = find_operator(name, std::strlen(name));
  REQUIRE(found.table != nullptr);
  REQUIRE(found.inputs == inputs.size());
  std::vector<const Value*> pointers;
  for (const Value& input : inputs) pointers.push_back(&input);
  outputs.assign(found.outputs, Value());
  Call call{context, pointers.data(), static_cast<uint32_t>(inputs.size()), outputs.data(), found.outputs};
  return found.run(call);
}

inline Value result(Context& context, const char* name, const std::vector<Value>& inputs) {
  std::vector<Value> outputs;
  const bool done = run(context, name, inputs, outputs);
  INFO(context.failure);
  REQUIRE(done);
  return outputs[0];
}

inline std::string refusal(Context& context, const char* name, const std::vector<Value>& inputs) {
  std::vector<Value> outputs;
  REQUIRE_FALSE(run(context, name, inputs, outputs));
  std::string failure = context.failure;
  context.failure[0] = '\0';
  return failure;
}

inline std::vector<float> elements(Context& context, const Value& value) {
  REQUIRE(value.is_tensor());
  const Value row_major(contiguous(context.pool, value.tensor()));
  const float* first = row_major.tensor().data<float>();
  return {first, first + row_major.tensor().numel()};
}

inline std::vector<int64_t> sizes_of(const Value& value) {
  return {value.tensor().sizes, value.tensor().sizes + value.tensor().rank};
}

inline const Value kNone;
inline const Value kFalse(false);

inline Value number(int64_t value) {
  return Value(value);
}

using Floats = std::vector<float>;

}  // namespace nnapi_shim::program_testing
