// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/argument_values.h"

#include <ATen/ATen.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/tensor_meta.h"

namespace nnapi_convert {
namespace {

using c10::TypeKind;
using nlohmann::json;
using torch::jit::Graph;
using torch::jit::Value;

int64_t memory_format(int64_t number) {
  switch (number) {
    case 1:
      return static_cast<int64_t>(c10::MemoryFormat::Contiguous);
    case 2:
      return static_cast<int64_t>(c10::MemoryFormat::ChannelsLast);
    case 3:
      return static_cast<int64_t>(c10::MemoryFormat::ChannelsLast3d);
    case 4:
      return static_cast<int64_t>(c10::MemoryFormat::Preserve);
    default:
      fail_export(fmt::format("memory format {} found", number));
  }
}

int64_t layout(int64_t number) {
  constexpr int64_t kStrided = 7;
  if (number == kStrided) return static_cast<int64_t>(c10::Layout::Strided);
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("a sparse or other layout ({}) found, a strided one needed", number));
}

// Returns a list of numbers, booleans or strings, all of one kind.
c10::IValue constant_list(const std::string& kind, const json& values) {
  if (kind == "as_ints") {
    std::vector<int64_t> numbers;
    for (const json& value : list_of(values)) numbers.push_back(integer_of(value));
    return numbers;
  }
  if (kind == "as_floats") {
    std::vector<double> numbers;
    for (const json& value : list_of(values)) numbers.push_back(real_of(value));
    return numbers;
  }
  if (kind == "as_bools") {
    c10::List<bool> flags;
    for (const json& value : list_of(values)) flags.push_back(bool_of(value));
    return flags;
  }
  c10::List<std::string> texts;
  for (const json& value : list_of(values)) texts.push_back(text_of(value));
  return texts;
}

// Returns the argument's value; nothing for kinds that are no constants.
c10::optional<c10::IValue> constant_of(const TaggedJson& argument) {
  const std::string& kind = argument.kind;
  const json& value = *argument.value;
  if (kind == "as_none") return c10::IValue();
  if (kind == "as_int") return c10::IValue(integer_of(value));
  if (kind == "as_float") return c10::IValue(real_of(value));
  if (kind == "as_bool") return c10::IValue(bool_of(value));
  if (kind == "as_string") return c10::IValue(text_of(value));
  if (kind == "as_scalar_type") {
    return c10::IValue(static_cast<int64_t>(read_dtype(integer_of(value), "a result")));
  }
  if (kind == "as_memory_format") return c10::IValue(memory_format(integer_of(value)));
  if (kind == "as_layout") return c10::IValue(layout(integer_of(value)));
  if (kind == "as_device") return c10::IValue(c10::Device(c10::kCPU));  // whichever device it was exported on
  if (kind == "as_complex") {
    return c10::IValue(c10::complex<double>(real_of(member(value, "real")), real_of(member(value, "imag"))));
  }
  if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools" || kind == "as_strings") {
    return constant_list(kind, value);
  }
  return c10::nullopt;
}

Value* symbol_value(Graph& graph, const json& argument, const ExportScope& scope) {
  const TaggedJson value = tagged(argument);
  if (value.kind == "as_name") return scope.at(text_of(*value.value));
  const auto constant = constant_of(value);
  if (!constant) fail_export(fmt::format("a number of kind {} found", value.kind));
  return graph.insertConstant(*constant);
}

Value* list_value(Graph& graph, const c10::TypePtr& element, const TorchValues& elements) {
  for (const Value* each : elements) {
    if (!each->type()->isSubtypeOf(*element)) {
      fail_export(
          fmt::format("a list of {} found that has {}", element->annotation_str(), each->type()->annotation_str()));
    }
  }
  return graph.insertNode(graph.createList(element, elements))->output();
}

Value* tensor_list(Graph& graph, const json& names, const c10::TypePtr& element, const ExportScope& scope) {
  TorchValues tensors;
  for (const json& name : list_of(names)) tensors.push_back(scope.at(text_member(name, "name")));
  return list_value(graph, element, tensors);
}

Value* optional_tensor(Graph& graph, const json& argument, const ExportScope& scope) {
  const TaggedJson value = tagged(argument);
  if (value.kind == "as_tensor") return scope.at(text_member(*value.value, "name"));
  if (value.kind == "as_none") return graph.insertConstant(c10::IValue());
  fail_export(fmt::format("a tensor of kind {} found", value.kind));
}

Value* optional_tensor_list(Graph& graph, const json& arguments, const ExportScope& scope) {
  TorchValues tensors;
  for (const json& argument : list_of(arguments)) tensors.push_back(optional_tensor(graph, argument, scope));
  return list_value(graph, c10::OptionalType::ofTensor(), tensors);
}

// Returns a list of sizes: a constant if all are known.
Value* number_list(Graph& graph, const json& arguments, const c10::TypePtr& type, const ExportScope& scope) {
  TorchValues numbers;
  std::vector<int64_t> known;
  for (const json& argument : list_of(arguments)) {
    const TaggedJson value = tagged(argument);
    if (value.kind == "as_int") known.push_back(integer_of(*value.value));
  }
  if (known.size() == arguments.size() && type->kind() == TypeKind::IntType) return graph.insertConstant(known);
  for (const json& argument : arguments) numbers.push_back(symbol_value(graph, argument, scope));
  return list_value(graph, type, numbers);
}

c10::TypePtr without_optional(c10::TypePtr type) {
  while (type->kind() == TypeKind::OptionalType) type = type->expectRef<c10::OptionalType>().getElementType();
  return type;
}

template <typename To, typename From>
c10::IValue list_as(const c10::List<From>& list) {
  c10::List<To> result;
  for (const From each : list) result.push_back(static_cast<To>(each));
  return result;
}

// Returns a whole number as an integer, any other as it is: PyTorch 2 takes a variance's correction as any number.
c10::IValue as_whole(const c10::IValue& number) {
  constexpr double kMost = 1 << 30;
  const double value = number.toDouble();
  return std::abs(value) <= kMost && std::rint(value) == value ? c10::IValue(static_cast<int64_t>(value)) : number;
}

// Converts a constant to the parameter's type: integers where floats are wanted, whole floats where integers are, one
// value where a list is, and an empty list of any kind.
c10::IValue fitted(c10::IValue value, const c10::Argument& parameter) {
  const c10::TypePtr wanted = without_optional(parameter.type());
  if (wanted->kind() == TypeKind::FloatType && value.isInt()) return static_cast<double>(value.toInt());
  if (wanted->kind() == TypeKind::IntType && value.isDouble()) return as_whole(value);
  if (wanted->kind() == TypeKind::BoolType && value.isInt()) return value.toInt() != 0;
  if (wanted->kind() == TypeKind::NumberType && value.isBool()) return static_cast<int64_t>(value.toBool());
  if (wanted->kind() == TypeKind::TensorType && value.isScalar()) {
    if (value.isComplexDouble())
      return at::scalar_tensor(value.toScalar(), at::device(at::kCPU).dtype(at::kComplexFloat));
    return value.isDouble() ? at::scalar_tensor(value.toDouble())
                            : at::scalar_tensor(value.toScalar(),
                                                at::device(at::kCPU).dtype(value.isBool() ? at::kBool : at::kLong));
  }
  if (wanted->kind() != TypeKind::ListType) return value;
  const TypeKind element = without_optional(wanted->expectRef<c10::ListType>().getElementType())->kind();
  const auto count = static_cast<size_t>(parameter.N().value_or(1));
  if (value.isInt()) value = std::vector<int64_t>(count, value.toInt());
  if (value.isDouble()) value = std::vector<double>(count, value.toDouble());
  if (element == TypeKind::FloatType && value.isIntList()) return list_as<double>(value.toIntList());
  if (element == TypeKind::BoolType && value.isIntList()) return list_as<bool>(value.toIntList());
  if (value.isList() && value.toListRef().empty()) {
    return c10::impl::GenericList(wanted->expectRef<c10::ListType>().getElementType());
  }
  return value;
}

// Converts a computed value of a type that the parameter does not take as it is.
Value* computed_as(Graph& graph, Value* value, const c10::TypePtr& wanted) {
  const TypeKind kind = value->type()->kind();
  if (wanted->kind() == TypeKind::FloatType && kind == TypeKind::IntType) {
    return graph.insert(c10::aten::Float, {value});
  }
  if (wanted->kind() == TypeKind::NumberType && kind == TypeKind::BoolType) {
    return graph.insert(c10::aten::Int, {value});
  }
  if (wanted->kind() == TypeKind::ListType && kind == TypeKind::IntType) {
    return graph.insertNode(graph.createList(c10::IntType::get(), {value}))->output();
  }
  return value;
}

Value* computed_value(Graph& graph, const TaggedJson& argument, const c10::TypePtr& element, const ExportScope& scope) {
  const std::string& kind = argument.kind;
  const json& value = *argument.value;
  if (kind == "as_tensor") return scope.at(text_member(value, "name"));
  if (kind == "as_tensors") return tensor_list(graph, value, element, scope);
  if (kind == "as_optional_tensor") return optional_tensor(graph, value, scope);
  if (kind == "as_optional_tensors") return optional_tensor_list(graph, value, scope);
  if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float") {
    return symbol_value(graph, value, scope);
  }
  if (kind == "as_sym_ints" || kind == "as_sym_bools" || kind == "as_sym_floats") {
    return number_list(graph, value, element, scope);
  }
  throw ConvertError(ExitCode::kNotConvertible,
                     fmt::format("an argument of kind {} found, which PyTorch 1.13.1 lacks", kind));
}

c10::TypePtr own_element(const std::string& kind) {
  if (kind == "as_tensors") return c10::TensorType::get();
  if (kind == "as_sym_bools") return c10::BoolType::get();
  if (kind == "as_sym_floats") return c10::FloatType::get();
  return c10::IntType::get();
}

// Returns the type of a list's elements. A list of tensors is one of optional tensors where the operator takes these,
// as aten.index does.
c10::TypePtr element_for(const std::string& kind, const c10::TypePtr& wanted) {
  const bool is_tensors = kind == "as_tensors" && wanted->kind() == TypeKind::ListType;
  return is_tensors ? wanted->expectRef<c10::ListType>().getElementType() : own_element(kind);
}

}  // namespace

Value* value_of(Graph& graph, const json& argument, const ExportScope& scope) {
  const TaggedJson value = tagged(argument);
  if (const auto constant = constant_of(value)) return graph.insertConstant(*constant);
  return computed_value(graph, value, own_element(value.kind), scope);
}

Value* value_for(Graph& graph, const json& argument, const c10::Argument& parameter, const ExportScope& scope) {
  const TaggedJson value = tagged(argument);
  if (const auto constant = constant_of(value)) return graph.insertConstant(fitted(*constant, parameter));
  const c10::TypePtr wanted = without_optional(parameter.type());
  Value* computed = computed_value(graph, value, element_for(value.kind, wanted), scope);
  return computed_as(graph, computed, wanted);
}

Value* output_of(Graph& graph, const json& graph_json, const json& output, const ExportScope& scope) {
  Value* value = value_of(graph, output, scope);
  const TaggedJson tag = tagged(output);
  const json* tensors = find_member(graph_json, "tensor_values");
  if (tag.kind != "as_tensor" || tensors == nullptr) return value;
  const std::string name = text_member(*tag.value, "name");
  const json* meta = find_member(*tensors, name.c_str());
  if (meta == nullptr) return value;
  const c10::ScalarType dtype = read_dtype(integer_of(member(*meta, "dtype")), name);
  const bool is_reduced = dtype == at::kHalf || dtype == at::kBFloat16;
  return is_reduced ? graph.insert(c10::aten::to, {value, static_cast<int64_t>(dtype)}) : value;
}

TorchValues outputs_of(Graph& graph, const json& graph_json, const ExportScope& scope) {
  TorchValues outputs;
  for (const json& output : list_of(member(graph_json, "outputs")))
    outputs.push_back(output_of(graph, graph_json, output, scope));
  return outputs;
}

}  // namespace nnapi_convert
