// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/tensor_value.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {
namespace {

using json = nlohmann::json;

constexpr size_t kMostNumbers = 4096;  // the converted module's code holds each of them
constexpr size_t kMostAxes = 8;

[[noreturn]] void fail(const std::string& reason) {
  throw std::invalid_argument(reason);
}

// The numbers in nested lists, in their order, and the lengths of the lists.
struct Numbers {
  std::vector<int64_t> sizes;
  std::vector<json> values;
};

void take(const json& element, size_t depth, Numbers& numbers) {
  if (!element.is_array()) {
    if (depth != numbers.sizes.size()) fail("lists and numbers stand side by side");
    if (!element.is_number() && !element.is_boolean()) fail(fmt::format("{} is no number", element.dump()));
    if (numbers.values.size() == kMostNumbers) fail(fmt::format("more than {} numbers", kMostNumbers));
    numbers.values.push_back(element);
    return;
  }
  const auto length = static_cast<int64_t>(element.size());
  if (length == 0) fail("an empty list");
  if (depth == numbers.sizes.size()) {
    if (!numbers.values.empty()) fail("lists and numbers stand side by side");
    if (depth == kMostAxes) fail(fmt::format("lists in more than {} levels", kMostAxes));
    numbers.sizes.push_back(length);
  }
  if (numbers.sizes[depth] != length) {
    fail(fmt::format("a list of {} elements beside one of {}", length, numbers.sizes[depth]));
  }
  for (const json& each : element) take(each, depth + 1, numbers);
}

at::ScalarType dtype_of(const std::vector<json>& values) {
  const auto are_all = [&](auto is_kind) { return std::all_of(values.begin(), values.end(), is_kind); };
  if (are_all([](const json& value) { return value.is_boolean(); })) return at::kBool;
  if (are_all([](const json& value) { return value.is_number_integer(); })) return at::kLong;
  if (!are_all([](const json& value) { return value.is_number(); })) fail("numbers beside true or false");
  return at::kFloat;
}

at::ScalarType dtype_named(const std::string& name) {
  for (const at::ScalarType dtype : {at::kFloat, at::kInt, at::kLong, at::kBool, at::kByte}) {
    if (name == dtype_name(dtype)) return dtype;
  }
  fail(fmt::format("dtype \"{}\" is none of float32, int32, int64, bool, uint8", name));
}

void check_held(const json& value, at::ScalarType dtype) {
  const bool fits = [&] {
    if (dtype == at::kBool) return value.is_boolean();
    if (value.is_boolean()) return false;
    if (dtype == at::kFloat) return std::isfinite(value.get<float>());
    if (!value.is_number_integer()) return false;
    if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return false;
    const int64_t number = value.get<int64_t>();
    if (dtype == at::kByte) return number >= 0 && number <= UINT8_MAX;
    return dtype == at::kLong || (number >= INT32_MIN && number <= INT32_MAX);
  }();
  if (!fits) fail(fmt::format("{} doesn't hold {}", dtype_name(dtype), value.dump()));
}

at::Tensor filled(const Numbers& numbers, at::ScalarType dtype) {
  for (const json& value : numbers.values) check_held(value, dtype);
  const auto tensor_of = [&](auto first) {
    using Number = decltype(first);
    const at::Tensor tensor = at::empty(numbers.sizes, dtype);
    Number* next = tensor.data_ptr<Number>();
    for (const json& value : numbers.values) *next++ = value.get<Number>();
    return tensor;
  };
  switch (dtype) {
    case at::kFloat:
      return tensor_of(float{});
    case at::kInt:
      return tensor_of(int32_t{});
    case at::kByte:
      return tensor_of(uint8_t{});
    case at::kBool:
      return tensor_of(bool{});
    default:
      return tensor_of(int64_t{});
  }
}

}  // namespace

bool is_tensor_value(const std::string& text) {
  return !text.empty() && text.front() == '[';
}

at::Tensor tensor_value(const std::string& text) {
  const size_t colon = text.rfind(':');
  const json lists = json::parse(text.substr(0, colon), nullptr, /*allow_exceptions=*/false);
  if (!lists.is_array()) fail("it is no list of numbers");
  Numbers numbers;
  take(lists, 0, numbers);
  return filled(numbers, colon == std::string::npos ? dtype_of(numbers.values) : dtype_named(text.substr(colon + 1)));
}

}  // namespace nnapi_convert
