// SPDX-License-Identifier: BSD-3-Clause
// Reads programs from their binary form (lib/format/program_format.h).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/format/crc32.h"
#include "lib/format/utf8.h"
#include "lib/program/code_checker.h"
#include "lib/program/word_reader.h"

namespace nnapi_shim::program {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "programs are little-endian");

namespace format = nnapi_convert::program_format;
using format::ConstantKind;

class Program::Reader {
 public:
  Reader(Program& program, const uint8_t* data, size_t bytes, char* error, size_t error_bytes)
      : program_(program),
        reader_(program.words_, error, error_bytes),
        data_(data),
        bytes_(bytes),
        error_(error),
        error_bytes_(error_bytes) {}

  bool read_all() {
    return read_header() && read_strings() && read_operators() && read_constants() && read_state() && read_segments() &&
           read_methods() &&
           (reader_.left() == 0 || reader_.damaged("%zu words are left behind the methods", reader_.left()));
  }

 private:
  bool fail(const char* what) {
    std::snprintf(error_, error_bytes_, "%s; copy or convert the model again", what);
    return false;
  }

  bool fail_memory() {
    std::snprintf(error_, error_bytes_, "memory is short for the program's constants; free some memory");
    return false;
  }

  static uint32_t decode(const uint8_t* bytes) {
    uint32_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }

  bool read_header() {
    if (bytes_ < format::kHeaderWords * sizeof(uint32_t)) return fail("the program is shorter than its header");
    const auto header = [&](uint32_t number) { return decode(data_ + number * sizeof(uint32_t)); };
    if (header(format::kMagicWord) != format::kMagic) return fail("the record of the program holds something else");
    if (header(format::kVersionWord) != format::kVersion) {
      std::snprintf(error_, error_bytes_,
                    "the program is of version %u, this runtime knows %u; use a newer runtime, or convert the model "
                    "with the nnapi-convert that it is of",
                    header(format::kVersionWord), format::kVersion);
      return false;
    }
    const size_t word_count = header(format::kWordCount);
    if (word_count < format::kHeaderWords || word_count > bytes_ / sizeof(uint32_t)) {
      return fail("the program's words don't fit into its record");
    }
    program_.words_.resize(word_count);
    std::memcpy(program_.words_.data(), data_, word_count * sizeof(uint32_t));
    const size_t behind = (format::kChecksum + 1) * sizeof(uint32_t);
    if (nnapi_convert::crc32(data_ + behind, word_count * sizeof(uint32_t) - behind) != header(format::kChecksum)) {
      return fail("the program's checksum is wrong");
    }
    const uint64_t begin = header(format::kDataBegin) | uint64_t{header(format::kDataBegin + 1)} << 32;
    const uint64_t data_bytes = header(format::kDataBytes) | uint64_t{header(format::kDataBytes + 1)} << 32;
    if (data_bytes > 0 && (begin < word_count * sizeof(uint32_t) || begin % format::kDataAlignment != 0 ||
                           begin > bytes_ || data_bytes > bytes_ - begin)) {
      return fail("the program's data don't fit into its record");
    }
    tensors_ = data_ + (data_bytes > 0 ? begin : 0);
    tensor_bytes_ = data_bytes;
    reader_.skip_to(format::kHeaderWords);
    return true;
  }

  bool read_strings() {
    uint32_t strings = 0;
    if (!reader_.entries(&strings, 1, "strings")) return false;
    std::vector<uint32_t> lengths(strings);
    size_t bytes = 0;
    for (uint32_t& length : lengths) {
      if (!reader_.word(&length, "a string's length")) return false;
      bytes += length;
      if (bytes > reader_.count() * sizeof(uint32_t)) return reader_.damaged("strings are longer than the words");
    }
    const size_t words = (bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    if (words > reader_.left()) return reader_.damaged("strings are longer than the words");
    const uint8_t* from = data_ + reader_.at() * sizeof(uint32_t);
    program_.text_.reserve(bytes + strings);
    program_.strings_.reserve(strings);
    for (const uint32_t length : lengths) {
      const uint8_t* const end = from + length;
      program_.strings_.push_back(static_cast<uint32_t>(program_.text_.size()));
      program_.text_.insert(program_.text_.end(), reinterpret_cast<const char*>(from),
                            reinterpret_cast<const char*>(end));
      program_.text_.push_back('\0');
      while (from < end) {
        const size_t sign = *from == 0 ? 0 : nnapi_convert::sign_bytes(from, end);
        if (sign == 0) return reader_.damaged("string %zu is not UTF-8", program_.strings_.size() - 1);
        from += sign;
      }
    }
    for (; from < data_ + (reader_.at() + words) * sizeof(uint32_t); ++from) {
      if (*from != 0) return reader_.damaged("strings are filled up with something else than zeros");
    }
    reader_.skip_to(reader_.at() + words);
    return true;
  }

  bool read_operators() {
    uint32_t operators = 0;
    if (!reader_.entries(&operators, 1, "operators")) return false;
    for (uint32_t i = 0; i < operators; ++i) {
      uint32_t name = 0;
      if (!reader_.number(&name, program_.strings_.size(), "an operator's name")) return false;
      const char* text = program_.string(name);
      const Operator found = find_operator(text, std::strlen(text));
      if (found.table == nullptr) {
        std::snprintf(error_, error_bytes_, "the model calls %.120s, which this runtime %s", text,
                      is_for_files()
                          ? "was built without; write its sources with nnapi-convert shim --for this file, too"
                          : "does not know; use a newer runtime, or run the file with PyTorch");
        return false;
      }
      program_.operator_names_.push_back(name);
      program_.operators_.push_back(found);
    }
    return true;
  }

  bool read_constants() {
    uint32_t constants = 0;
    if (!reader_.entries(&constants, 1, "constants")) return false;
    program_.constants_.reserve(constants);
    for (uint32_t i = 0; i < constants; ++i) {
      uint32_t kind = 0, depth = 0;
      Value value;
      if (!reader_.number(&kind, static_cast<uint32_t>(ConstantKind::kDevice) + 1, "a constant's kind")) return false;
      if (!read_constant(static_cast<ConstantKind>(kind), &value, &depth)) return false;
      program_.constants_.push_back(std::move(value));
      depths_.push_back(depth);
    }
    return true;
  }

  bool read_constant(ConstantKind kind, Value* value, uint32_t* depth) {
    uint64_t bits = 0;
    uint32_t small = 0;
    switch (kind) {
      case ConstantKind::kNone:
        return true;
      case ConstantKind::kBool:
        if (!reader_.number(&small, 2, "a bool")) return false;
        *value = Value(small == 1);
        return true;
      case ConstantKind::kInt:
        if (!reader_.wide(&bits, "an int")) return false;
        *value = Value(static_cast<int64_t>(bits));
        return true;
      case ConstantKind::kFloat: {
        if (!reader_.wide(&bits, "a float")) return false;
        double real = 0;
        std::memcpy(&real, &bits, sizeof real);
        *value = Value(real);
        return true;
      }
      case ConstantKind::kString: {
        if (!reader_.number(&small, program_.strings_.size(), "a string")) return false;
        const char* text = program_.string(small);
        return keep(make_string(program_.pool_, text, std::strlen(text)), value);
      }
      case ConstantKind::kTensor:
        return read_tensor(value);
      case ConstantKind::kList:
        return read_sequence(Tag::kList, 1, value, depth);
      case ConstantKind::kTuple:
        return read_sequence(Tag::kTuple, 1, value, depth);
      case ConstantKind::kDict:
        return read_sequence(Tag::kDict, 2, value, depth);
      case ConstantKind::kObject:
        return read_sequence(Tag::kObject, 1, value, depth);
      case ConstantKind::kDevice:
        *value = Value::device();
        return true;
    }
    return reader_.damaged("an unknown kind of constant");
  }

  // Makes it a constant, which no call changes or frees.
  template <typename Made>
  bool keep(Made* made, Value* value) {
    if (made == nullptr) return fail_memory();
    made->head.pool = nullptr;
    *value = Value(made);
    return true;
  }

  bool read_tensor(Value* value) {
    uint32_t code = 0, rank = 0;
    int64_t sizes[kMostAxes];
    uint64_t begin = 0;
    if (!reader_.number(&code, static_cast<uint32_t>(ScalarType::kBool) + 1, "a dtype")) return false;
    if (code > static_cast<uint32_t>(ScalarType::kFloat64) && code < static_cast<uint32_t>(ScalarType::kBool)) {
      return reader_.damaged("dtype %u is none of a program's", code);
    }
    const auto dtype = static_cast<ScalarType>(code);
    if (!reader_.number(&rank, kMostAxes + 1, "a tensor's rank")) return false;
    uint64_t bytes = element_bytes(dtype);
    for (uint32_t i = 0; i < rank; ++i) {
      uint64_t size = 0;
      if (!reader_.wide(&size, "a tensor's size")) return false;
      if (size > INT64_MAX || __builtin_mul_overflow(bytes, size, &bytes) || bytes > PTRDIFF_MAX) {
        return reader_.damaged("a tensor is larger than memory");
      }
      sizes[i] = static_cast<int64_t>(size);
    }
    if (!reader_.wide(&begin, "a tensor's place")) return false;
    if (begin > tensor_bytes_ || bytes > tensor_bytes_ - begin || begin % format::kDataAlignment != 0) {
      return reader_.damaged("a tensor is outside of the data, or not aligned");
    }
    if (dtype == ScalarType::kBool) {
      for (uint64_t i = 0; i < bytes; ++i) {
        if (tensors_[begin + i] > 1) return reader_.damaged("a bool tensor holds %u", tensors_[begin + i]);
      }
    }
    Tensor* tensor = make_borrowed(program_.pool_, dtype, rank, sizes, tensors_ + begin, static_cast<size_t>(bytes));
    if (tensor == nullptr) return fail_memory();
    tensor->storage->pool = nullptr;
    return keep(tensor, value);
  }

  bool read_sequence(Tag tag, uint32_t each, Value* value, uint32_t* depth) {
    uint32_t elements = 0;
    if (!reader_.entries(&elements, each, "elements")) return false;
    Sequence* sequence = make_sequence(program_.pool_, tag, elements * each);
    if (!keep(sequence, value)) return false;
    for (uint32_t i = 0; i < elements * each; ++i) {
      uint32_t element = 0;
      if (!reader_.number(&element, program_.constants_.size(), "an earlier constant")) return false;
      if (tag == Tag::kDict && i % 2 == 0 && !is_key(program_.constants_[element])) {
        return reader_.damaged("a key of a dict is %s", kind_name(program_.constants_[element]));
      }
      sequence->values[i] = program_.constants_[element];
      *depth = std::max(*depth, depths_[element] + 1);
    }
    return *depth <= format::kMostDepth || reader_.damaged("constants are nested deeper than %u", format::kMostDepth);
  }

  static bool is_key(const Value& value) {
    return value.tag() == Tag::kString || value.tag() == Tag::kInt || value.tag() == Tag::kFloat ||
           value.tag() == Tag::kBool;
  }

  bool read_state() {
    if (!reader_.number(&program_.state_, program_.constants_.size(), "the state")) return false;
    return program_.constants_[program_.state_].tag() == Tag::kObject || reader_.damaged("the state is no object");
  }

  bool read_segments() {
    uint32_t segments = 0;
    if (!reader_.entries(&segments, 3, "segments")) return false;
    for (uint32_t i = 0; i < segments; ++i) {
      SegmentCounts counts{};
      if (!reader_.number(&counts.inputs, kMostOfSegment, "a segment's inputs") ||
          !reader_.number(&counts.outputs, kMostOfSegment, "a segment's outputs") ||
          !reader_.word(&counts.fallback_plus_1, "a segment's method")) {
        return false;
      }
      program_.segments_.push_back(counts);
    }
    return true;
  }

  bool string(const char** text, const char* what) {
    uint32_t number_of = 0;
    if (!reader_.number(&number_of, program_.strings_.size(), what)) return false;
    *text = program_.string(number_of);
    return true;
  }

  bool type(Type* type) {
    const char* text = nullptr;
    if (!string(&text, "a type")) return false;
    return parse_type(text, type) || reader_.damaged("type %.100s can't be read", text);
  }

  bool read_methods() {
    uint32_t methods = 0;
    if (!reader_.entries(&methods, 6, "methods")) return false;
    uint32_t named = methods;
    for (const SegmentCounts& segment : program_.segments_) {
      if (segment.fallback_plus_1 > methods) return reader_.damaged("a segment's method is not there");
      if (segment.fallback_plus_1 > 0) named = std::min(named, segment.fallback_plus_1 - 1);
    }
    if (named == 0) return reader_.damaged("the program has no method");
    CodeChecker checker(program_, reader_);
    program_.methods_.reserve(methods);
    for (uint32_t i = 0; i < methods; ++i) {
      program_.methods_.emplace_back();
      Method& method = program_.methods_.back();
      const bool is_named = i < named;
      if (!read_method(checker, is_named, &method)) return false;
      if (!is_named) continue;
      program_.named_methods_ = i + 1;
      if (program_.find_method(method.name) != &method)
        return reader_.damaged("two methods have the name %.100s", method.name);
    }
    return check_fallbacks();
  }

  bool check_fallbacks() {
    for (const SegmentCounts& segment : program_.segments_) {
      if (segment.fallback_plus_1 == 0) continue;
      const Method& method = program_.methods_[segment.fallback_plus_1 - 1];
      if (method.arguments.size() == segment.inputs) continue;
      return reader_.damaged("a segment's method has %zu arguments, %u needed", method.arguments.size(),
                             segment.inputs);
    }
    return true;
  }

  bool read_method(CodeChecker& checker, bool is_named, Method* method) {
    uint32_t arguments = 0;
    if (!string(&method->name, "a method's name")) return false;
    if (!reader_.number(&method->registers, format::kMostRegisters + 1, "a method's registers")) return false;
    if (!reader_.entries(&arguments, 3, "arguments")) return false;
    if (arguments > method->registers) return reader_.damaged("%u arguments are more than the registers", arguments);
    for (uint32_t i = 0; i < arguments; ++i) {
      Argument argument{};
      uint32_t fallback = 0;
      if (!string(&argument.name, "an argument's name") || !type(&argument.type)) return false;
      if (!reader_.number(&fallback, program_.constants_.size() + 1, "a default")) return false;
      argument.has_default = fallback > 0;
      if (fallback > 0) argument.default_value = program_.constants_[fallback - 1];
      method->arguments.push_back(std::move(argument));
    }
    if (!type(&method->result_type) || !reader_.word(&method->result, "an operand")) return false;
    if (!reader_.word(&method->code_words, "the words of a method's code")) return false;
    method->code_begin = static_cast<uint32_t>(reader_.at());
    return checker.check(method, is_named);
  }

  static constexpr uint32_t kMostOfSegment = 4096;

  Program& program_;
  WordReader reader_;
  const uint8_t* const data_;
  const size_t bytes_;
  char* const error_;
  const size_t error_bytes_;
  const uint8_t* tensors_ = nullptr;
  uint64_t tensor_bytes_ = 0;
  std::vector<uint32_t> depths_;  // of constants
};

std::unique_ptr<const Program> Program::parse(const uint8_t* data, size_t bytes, char* error, size_t error_bytes) {
  std::unique_ptr<Program> program(new Program());
  Reader reader(*program, data, bytes, error, error_bytes);
  if (!reader.read_all()) return nullptr;
  return program;
}

}  // namespace nnapi_shim::program
