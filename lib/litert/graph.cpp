// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/litert/names.h"
#include "lib/litert/versions.h"
#include "lib/nnapi/stored_form.h"

namespace nnapi_convert::litert {
namespace {

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

int32_t as_int32(int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX) {
    throw RefusedOperation{fmt::format("the number {}", value), "a number of 32 bits", ""};
  }
  return static_cast<int32_t>(value);
}

// Returns the value of a constant INT32 operand as bytes for the file.
std::string int_bytes(const Dims& values) {
  std::vector<int32_t> numbers;
  for (const Dim& value : values) {
    if (!value.is_fixed()) {
      throw RefusedOperation{"a number that depends on an open size (" + value.text() + ")",
                             "a number that is known when the file is written", "fix the sizes by --input"};
    }
    numbers.push_back(as_int32(value.value()));
  }
  return bytes_of(numbers);
}

}  // namespace

TensorType tensor_type(OperandCode type, bool keeps_uint8) {
  switch (type) {
    case OperandCode::FLOAT32:
    case OperandCode::TENSOR_FLOAT32:
      return TensorType::FLOAT32;
    case OperandCode::INT32:
    case OperandCode::TENSOR_INT32:
      return TensorType::INT32;
    case OperandCode::BOOL:
    case OperandCode::TENSOR_BOOL8:
      return TensorType::BOOL;
    case OperandCode::TENSOR_QUANT8_ASYMM:
      return keeps_uint8 ? TensorType::UINT8 : TensorType::INT8;
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL:
      return TensorType::INT8;
    default:
      throw RefusedOperation{std::string("a tensor of type ") + name_of(type),
                             "float32, int32, bool or an integer of 8 bits", ""};
  }
}

void Graph::set_shape(Tensor& tensor, const Dims& dims) {
  tensor.shape.clear();
  tensor.signature.clear();
  tensor.dims.clear();
  for (const Dim& dim : dims) tensor.shape.push_back(dim.is_fixed() ? std::max(as_int32(dim.value()), 1) : 1);
  if (all_fixed(dims)) return;
  tensor.dims = dims;
  for (const Dim& dim : dims) tensor.signature.push_back(dim.is_fixed() ? as_int32(dim.value()) : -1);
}

Dims Graph::dims_of(TensorId id) const {
  const Tensor& tensor = at(id);
  return tensor.dims.empty() ? Dims(tensor.shape.begin(), tensor.shape.end()) : tensor.dims;
}

Tensor Graph::described(const nnapi::Operand& operand) const {
  Tensor tensor;
  tensor.name = operand.name;
  tensor.type = tensor_type(operand.type, options_.keeps_uint8);
  set_shape(tensor, operand.dims);
  if (operand.channels != nullptr) {
    tensor.scales = operand.channels->scales;
    tensor.zero_points.assign(tensor.scales.size(), 0);
    tensor.channel_axis = static_cast<int32_t>(operand.channels->axis);
  } else if (nnapi::is_quant8(operand.type) || operand.type == OperandCode::TENSOR_QUANT8_SYMM) {
    const bool moves = operand.type == OperandCode::TENSOR_QUANT8_ASYMM && !options_.keeps_uint8;
    tensor.scales = {operand.scale};
    tensor.zero_points = {operand.zero_point - (moves ? kSignedShift : 0)};
  }
  return tensor;
}

TensorId Graph::of(nnapi::OperandId id) {
  TensorId& known = tensors_[static_cast<size_t>(id)];
  const nnapi::Operand& operand = model_.at(id);
  if (known >= 0 || operand.is_omitted()) return known;
  const TensorId made = operand.is_constant() ? constant_of(operand) : add(described(operand));
  return tensors_[static_cast<size_t>(id)] = made;
}

TensorId Graph::constant_of(const nnapi::Operand& operand) {
  const Dims* sizes = operand.ints();
  if (sizes != nullptr && !all_fixed(*sizes) && operand.dims.size() == 1) return numbers(*sizes);
  Tensor tensor = described(operand);
  if (const nnapi::Constant* value = operand.constant()) {
    const bool shifts = operand.type == OperandCode::TENSOR_QUANT8_ASYMM && !options_.keeps_uint8;
    tensor.buffer = buffers_.add({*value}, shifts);
    const bool is_half = value->type() == nnapi::DataType::kFloat16;
    if (!is_half && !nnapi::is_stored_as_int8(operand)) return add(std::move(tensor));
    tensor.type = is_half ? TensorType::FLOAT16 : TensorType::INT8;
    const TensorId stored = add(std::move(tensor));
    const TensorId result = floats_like(stored);
    emit(Builtin::DEQUANTIZE, {stored}, {result}, Options::DEQUANTIZE);
    return result;
  }
  if (const Dims* values = operand.ints()) {
    tensor.buffer = buffers_.add(int_bytes(*values));
  } else if (const bool* flag = std::get_if<bool>(&operand.value)) {
    tensor.buffer = buffers_.add(std::string(1, *flag ? '\1' : '\0'));
  } else {
    NNC_ASSERT(std::holds_alternative<float>(operand.value), "no other operand is a tensor");
    tensor.buffer = buffers_.add(bytes_of(std::vector<float>{std::get<float>(operand.value)}));
  }
  return add(std::move(tensor));
}

TensorId Graph::add(Tensor tensor) {
  subgraph_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(subgraph_.tensors.size() - 1);
}

Tensor Graph::copy_without_data(TensorId id) const {
  Tensor tensor = at(id);
  tensor.name.clear();
  tensor.buffer = 0;
  return tensor;
}

TensorId Graph::like(TensorId other, const Dims& dims) {
  Tensor tensor = copy_without_data(other);
  set_shape(tensor, dims);
  return add(std::move(tensor));
}

TensorId Graph::floats_like(TensorId other) {
  Tensor tensor = copy_without_data(other);
  tensor.type = TensorType::FLOAT32;
  tensor.scales.clear();
  tensor.zero_points.clear();
  tensor.channel_axis = 0;
  return add(std::move(tensor));
}

TensorId Graph::ints(const std::vector<int32_t>& values) {
  return ints(values, {static_cast<int32_t>(values.size())});
}

TensorId Graph::ints(const std::vector<int32_t>& values, const std::vector<int32_t>& shape) {
  Tensor tensor;
  tensor.type = TensorType::INT32;
  tensor.shape = shape;
  tensor.buffer = buffers_.add(bytes_of(values));
  return add(std::move(tensor));
}

TensorId Graph::floats(const std::vector<float>& values, const std::vector<int32_t>& shape) {
  Tensor tensor;
  tensor.shape = shape;
  tensor.buffer = buffers_.add(bytes_of(values));
  return add(std::move(tensor));
}

TensorId Graph::byte_like(TensorId other, int8_t value) {
  Tensor tensor = copy_without_data(other);
  set_shape(tensor, {});
  tensor.buffer = buffers_.add(std::string(1, static_cast<char>(value)));
  return add(std::move(tensor));
}

TensorId Graph::uint8_constant_of(const nnapi::Operand& operand) {
  Tensor tensor = described(operand);
  tensor.type = TensorType::UINT8;
  tensor.zero_points = {operand.zero_point};
  tensor.buffer = buffers_.add({*operand.constant()}, false);
  return add(std::move(tensor));
}

TensorId Graph::symmetric_constant_of(const nnapi::Operand& operand) {
  Tensor tensor = described(operand);
  tensor.buffer = buffers_.add({*operand.constant()}, operand.type == OperandCode::TENSOR_QUANT8_ASYMM, true);
  return add(std::move(tensor));
}

TensorId Graph::joined(const std::vector<nnapi::Constant>& parts, const std::vector<int32_t>& shape) {
  Tensor tensor;
  tensor.shape = shape;
  tensor.buffer = buffers_.add(parts, false);
  return add(std::move(tensor));
}

// Writes operators that compute an expression of open sizes; each result is a tensor of one element.
class Graph::SizeWriter : public DimVisitor {
 public:
  explicit SizeWriter(Graph& graph) : graph_(graph) {}

  size_t number(int64_t value) override { return as_number(graph_.ints({as_int32(value)})); }
  size_t size(int input, int axis) override { return as_number(graph_.size_of(input, axis)); }
  size_t sum(size_t a, size_t b) override { return binary(Builtin::ADD, Options::ADD, a, b); }
  size_t product(size_t a, size_t b) override { return binary(Builtin::MUL, Options::MUL, a, b); }
  size_t floor_div(size_t a, size_t b) override { return binary(Builtin::FLOOR_DIV, Options::NONE, a, b); }

 private:
  static size_t as_number(TensorId id) { return static_cast<size_t>(id); }

  size_t binary(Builtin code, Options options, size_t a, size_t b) {
    const TensorId result = graph_.number_tensor(1);
    graph_.emit(code, {static_cast<TensorId>(a), static_cast<TensorId>(b)}, {result}, options);
    return as_number(result);
  }

  Graph& graph_;
};

TensorId Graph::number_tensor(size_t count) {
  Tensor tensor;
  tensor.type = TensorType::INT32;
  tensor.shape = {static_cast<int32_t>(count)};
  return add(std::move(tensor));
}

TensorId Graph::size_of(int argument, int axis) {
  const auto found = arguments_.find(static_cast<size_t>(argument));
  if (found == arguments_.end()) {
    throw RefusedOperation{fmt::format("a size of argument {}, which the file can't read here", argument),
                           "a size of an argument of this signature", "fix the sizes by --input"};
  }
  const Argument& of = found->second;
  const size_t rank = at(of.tensor).shape.size();
  const int place = !of.is_nhwc || axis == 0 ? axis : axis == 1 ? 3 : axis - 1;
  TensorId& shape = numbers_.emplace(fmt::format("shape of {}", argument), kLeftOut).first->second;
  if (shape == kLeftOut) {
    shape = number_tensor(rank);
    Table options;
    options.set(0, static_cast<int8_t>(TensorType::INT32));
    emit(Builtin::SHAPE, {of.tensor}, {shape}, Options::SHAPE, std::move(options));
  }
  const TensorId index = ints({place}), result = number_tensor(1);
  emit(Builtin::GATHER, {shape, index}, {result}, Options::GATHER);
  return result;
}

TensorId Graph::numbers(const Dims& values) {
  std::vector<TensorId> parts;
  std::vector<int32_t> known;
  const auto end_known = [&] {
    if (!known.empty()) parts.push_back(ints(known));
    known.clear();
  };
  for (const Dim& value : values) {
    if (value.is_fixed()) {
      known.push_back(as_int32(value.value()));
      continue;
    }
    end_known();
    const std::string text = value.text();
    if (numbers_.count(text) == 0) {
      SizeWriter writer(*this);
      const auto made = static_cast<TensorId>(value.visit(writer));
      numbers_[text] = made;
    }
    parts.push_back(numbers_.at(text));
  }
  end_known();
  if (parts.empty()) return ints({});
  if (parts.size() == 1) return parts[0];
  const TensorId result = number_tensor(values.size());
  Table options;
  options.set(0, int32_t{0});
  emit(Builtin::CONCATENATION, std::move(parts), {result}, Options::CONCATENATION, std::move(options));
  return result;
}

void Graph::emit(Builtin code, std::vector<TensorId> inputs, std::vector<TensorId> outputs, Options options_type,
                 Table options) {
  Operator each{code, 1, std::move(inputs), std::move(outputs), options_type, std::move(options)};
  each.version = version_of(subgraph_, each);
  for (const TensorId id : each.outputs) {
    std::string& name = at(id).name;
    if (!name.empty()) continue;
    name = fmt::format("{}_{}", name_of(code), subgraph_.operators.size());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  }
  for (size_t i = 0; i < each.inputs.size(); ++i) {
    if (each.inputs[i] < 0) continue;
    Tensor& input = at(each.inputs[i]);
    if (input.is_constant() && input.name.empty()) input.name = fmt::format("{}/input_{}", at(each.outputs[0]).name, i);
  }
  subgraph_.operators.push_back(std::move(each));
}

TensorId Graph::requantised(TensorId id, TensorId like) {
  return requantised(id, Tensor(at(like)));
}

TensorId Graph::requantised(TensorId id, const Tensor& like) {
  const Tensor& tensor = at(id);
  const bool is_same =
      tensor.type == like.type && tensor.scales == like.scales && tensor.zero_points == like.zero_points;
  if (is_same) return id;
  Tensor moved = copy_without_data(id);
  moved.type = like.type;
  moved.scales = like.scales;
  moved.zero_points = like.zero_points;
  const TensorId result = add(std::move(moved));
  quantise_into(id, result);
  return result;
}

TensorId Graph::dequantised(TensorId id) {
  if (!at(id).is_quantised()) return id;
  const TensorId result = floats_like(id);
  emit(Builtin::DEQUANTIZE, {id}, {result}, Options::DEQUANTIZE);
  return result;
}

void Graph::quantise_into(TensorId from, TensorId to) {
  emit(Builtin::QUANTIZE, {from}, {to}, Options::QUANTIZE);
}

void Graph::reshape_into(TensorId from, TensorId to) {
  const std::vector<int32_t> shape = at(to).signature.empty() ? at(to).shape : at(to).signature;
  Table options;
  if (std::count(shape.begin(), shape.end(), -1) > 1) {
    const TensorId sizes = numbers(dims_of(to));
    return emit(Builtin::RESHAPE, {from, sizes}, {to}, Options::RESHAPE, std::move(options));
  }
  options.set_numbers(0, shape);
  const TensorId sizes = ints(shape);
  emit(Builtin::RESHAPE, {from, sizes}, {to}, Options::RESHAPE, std::move(options));
}

TensorId Graph::reshaped(TensorId id, const Dims& dims) {
  const TensorId result = like(id, dims);
  reshape_into(id, result);
  return result;
}

void Graph::transpose_into(TensorId from, TensorId to, const std::vector<int32_t>& perm) {
  const TensorId order = ints(perm);
  emit(Builtin::TRANSPOSE, {from, order}, {to}, Options::TRANSPOSE);
}

TensorId Graph::transposed(TensorId id, const std::vector<int32_t>& perm) {
  const Dims from = dims_of(id);
  Dims dims;
  for (const int32_t axis : perm) dims.push_back(from[static_cast<size_t>(axis)]);
  const TensorId result = like(id, dims);
  transpose_into(id, result, perm);
  return result;
}

}  // namespace nnapi_convert::litert
