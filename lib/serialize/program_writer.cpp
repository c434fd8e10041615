// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/program_writer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <libdeflate.h>

#include <cstring>
#include <stdexcept>

namespace nnapi_convert {
namespace {

namespace format = program_format;
using Kind = format::ConstantKind;

void push_wide(ProgramWords& words, uint64_t value) {
  words.push_back(static_cast<uint32_t>(value));
  words.push_back(static_cast<uint32_t>(value >> 32));
}

void append(ProgramWords& words, const ProgramWords& more) {
  words.insert(words.end(), more.begin(), more.end());
}

uint64_t aligned(uint64_t bytes) {
  return (bytes + format::kDataAlignment - 1) / format::kDataAlignment * format::kDataAlignment;
}

}  // namespace

bool has_program_dtype(at::ScalarType dtype) {
  switch (dtype) {
    case at::kByte:
    case at::kChar:
    case at::kShort:
    case at::kInt:
    case at::kLong:
    case at::kHalf:
    case at::kFloat:
    case at::kDouble:
    case at::kBool:
      return true;
    default:
      return false;
  }
}

void Program::write(const nnapi::ByteSink& sink) const {
  static const char zeros[format::kDataAlignment] = {};
  uint64_t written = words.size() * sizeof(uint32_t);
  sink(words.data(), written);
  for (const at::Tensor& tensor : tensors) {
    sink(zeros, aligned(written) - written);
    written = aligned(written) + tensor.nbytes();
    sink(tensor.data_ptr(), tensor.nbytes());
  }
}

uint32_t ProgramWriter::string(const std::string& text) {
  const auto [found, is_new] = strings_.emplace(text, string_order_.size());
  if (is_new) string_order_.push_back(text);
  return found->second;
}

uint32_t ProgramWriter::op(const std::string& name) {
  const auto [found, is_new] = ops_.emplace(name, op_names_.size());
  if (is_new) op_names_.push_back(string(name));
  return found->second;
}

uint32_t ProgramWriter::add_constant(const ProgramWords& words) {
  const auto [found, is_new] = constants_.emplace(words, constant_order_.size());
  if (is_new) constant_order_.push_back(&found->first);
  return found->second;
}

uint32_t ProgramWriter::none() {
  return add_constant({static_cast<uint32_t>(Kind::kNone)});
}

uint32_t ProgramWriter::constant(bool value) {
  return add_constant({static_cast<uint32_t>(Kind::kBool), value ? 1u : 0u});
}

uint32_t ProgramWriter::constant(int64_t value) {
  ProgramWords words{static_cast<uint32_t>(Kind::kInt)};
  push_wide(words, static_cast<uint64_t>(value));
  return add_constant(words);
}

uint32_t ProgramWriter::constant(double value) {
  ProgramWords words{static_cast<uint32_t>(Kind::kFloat)};
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  push_wide(words, bits);
  return add_constant(words);
}

uint32_t ProgramWriter::tensor(const at::Tensor& tensor) {
  const auto known = tensor_numbers_.find(tensor.unsafeGetTensorImpl());
  if (known != tensor_numbers_.end()) return known->second;
  if (!tensor.defined()) throw std::invalid_argument("an undefined tensor");
  if (tensor.layout() != at::kStrided || tensor.is_quantized() || !tensor.device().is_cpu() ||
      !has_program_dtype(tensor.scalar_type())) {
    throw std::invalid_argument(fmt::format("a tensor of {}", c10::toString(tensor.scalar_type())));
  }
  if (tensor.dim() > format::kMostAxes) throw std::invalid_argument(fmt::format("a tensor of {} axes", tensor.dim()));
  ProgramWords words{static_cast<uint32_t>(Kind::kTensor), static_cast<uint32_t>(tensor.scalar_type()),
                     static_cast<uint32_t>(tensor.dim())};
  for (const int64_t size : tensor.sizes()) push_wide(words, static_cast<uint64_t>(size));
  push_wide(words, data_bytes_);
  tensors_.push_back(tensor.detach().contiguous());
  data_bytes_ = aligned(data_bytes_ + tensors_.back().nbytes());
  // Each tensor has an offset of its own, so that the words of two tensors differ unless they are empty.
  const uint32_t number = add_constant(words);
  tensor_numbers_.emplace(tensor.unsafeGetTensorImpl(), number);
  return number;
}

uint32_t ProgramWriter::sequence(Kind kind, const std::vector<uint32_t>& elements, size_t count) {
  ProgramWords words{static_cast<uint32_t>(kind), static_cast<uint32_t>(count)};
  append(words, elements);
  return add_constant(words);
}

uint32_t ProgramWriter::object(const std::vector<uint32_t>& fields) {
  return sequence(Kind::kObject, fields, fields.size());
}

uint32_t ProgramWriter::constant(const c10::IValue& value) {
  const auto numbers_of = [this](const auto& values) {
    std::vector<uint32_t> numbers;
    for (const c10::IValue& each : values) numbers.push_back(constant(each));
    return numbers;
  };
  if (value.isNone()) return none();
  if (value.isBool()) return constant(value.toBool());
  if (value.isInt()) return constant(value.toInt());
  if (value.isDouble()) return constant(value.toDouble());
  if (value.isString()) return add_constant({static_cast<uint32_t>(Kind::kString), string(value.toStringRef())});
  if (value.isTensor()) return tensor(value.toTensor());
  if (value.isDevice()) return add_constant({static_cast<uint32_t>(Kind::kDevice)});
  if (value.isList()) {
    const std::vector<uint32_t> elements = numbers_of(value.toListRef());
    return sequence(Kind::kList, elements, elements.size());
  }
  if (value.isTuple()) {
    const std::vector<uint32_t> elements = numbers_of(value.toTupleRef().elements());
    return sequence(Kind::kTuple, elements, elements.size());
  }
  if (value.isGenericDict()) {
    std::vector<uint32_t> elements;
    for (const auto& pair : value.toGenericDict()) {
      elements.push_back(constant(pair.key()));
      elements.push_back(constant(pair.value()));
    }
    return sequence(Kind::kDict, elements, elements.size() / 2);
  }
  if (value.isObject() &&
      value.toObjectRef().slots().size() == value.type()->expectRef<c10::ClassType>().numAttributes())
    return object(numbers_of(value.toObjectRef().slots()));
  throw std::invalid_argument("a value of type " + value.type()->repr_str());
}

Program ProgramWriter::finish(uint32_t state) {
  for (ProgramMethod& method : methods_) {
    string(method.name);
    string(method.result_type);
    for (const ProgramArgument& argument : method.arguments) {
      string(argument.name);
      string(argument.type);
    }
  }
  Program program;
  ProgramWords& words = program.words;
  words.resize(format::kHeaderWords);
  words.push_back(static_cast<uint32_t>(string_order_.size()));
  std::string text;
  for (const std::string& each : string_order_) {
    words.push_back(static_cast<uint32_t>(each.size()));
    text += each;
  }
  text.resize((text.size() + 3) / 4 * 4);
  const size_t begin = words.size();
  words.resize(begin + text.size() / 4);
  std::memcpy(words.data() + begin, text.data(), text.size());
  words.push_back(static_cast<uint32_t>(op_names_.size()));
  append(words, op_names_);
  words.push_back(static_cast<uint32_t>(constant_order_.size()));
  for (const ProgramWords* each : constant_order_) append(words, *each);
  words.push_back(state);
  words.push_back(static_cast<uint32_t>(segments_.size()));
  for (const ProgramSegment& segment : segments_)
    append(words, {segment.inputs, segment.outputs, segment.fallback_plus_1});
  words.push_back(static_cast<uint32_t>(methods_.size()));
  for (const ProgramMethod& method : methods_) {
    append(words, {string(method.name), method.registers, static_cast<uint32_t>(method.arguments.size())});
    for (const ProgramArgument& argument : method.arguments)
      append(words, {string(argument.name), string(argument.type), argument.default_plus_1});
    append(words, {string(method.result_type), method.result, static_cast<uint32_t>(method.code.size())});
    append(words, method.code);
  }
  const uint64_t data_begin = aligned(words.size() * sizeof(uint32_t));
  words[format::kMagicWord] = format::kMagic;
  words[format::kVersionWord] = format::kVersion;
  words[format::kWordCount] = static_cast<uint32_t>(words.size());
  words[format::kDataBegin] = static_cast<uint32_t>(data_begin);
  words[format::kDataBegin + 1] = static_cast<uint32_t>(data_begin >> 32);
  program.tensors = std::move(tensors_);
  const uint64_t data_bytes =
      program.tensors.empty()
          ? 0
          : data_bytes_ - (aligned(program.tensors.back().nbytes()) - program.tensors.back().nbytes());
  words[format::kDataBytes] = static_cast<uint32_t>(data_bytes);
  words[format::kDataBytes + 1] = static_cast<uint32_t>(data_bytes >> 32);
  words[format::kChecksum] =
      libdeflate_crc32(0, words.data() + format::kChecksum + 1, (words.size() - format::kChecksum - 1) * 4);
  program.bytes = program.tensors.empty() ? words.size() * sizeof(uint32_t) : data_begin + data_bytes;
  return program;
}

}  // namespace nnapi_convert
