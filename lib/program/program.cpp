#include "lib/program/program.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/format/crc32.h"
#include "lib/format/utf8.h"

namespace nnapi_shim::program {

namespace format = nnapi_convert::program_format;
using format::ConstantKind;
using format::Opcode;

// Reads words from the first to the last. Keeps the first problem.
class Program::Reader {
 public:
  Reader(Program& program, const uint8_t* data, size_t bytes, char* error, size_t error_bytes)
      : program_(program), data_(data), bytes_(bytes), error_(error), error_bytes_(error_bytes) {}

  bool read_all() {
    return read_header() && read_strings() && read_operators() && read_constants() && read_state() && read_segments() &&
           read_methods() && (at_ == count() || damaged("%zu words are left behind the methods", count() - at_));
  }

  size_t at() const { return at_; }
  void skip_to(size_t word) { at_ = word; }
  const Program& program() const { return program_; }

  [[gnu::format(printf, 2, 3)]] bool damaged(const char* format, ...) {
    char problem[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    std::snprintf(error_, error_bytes_, "damaged program at word %zu: %s; copy or convert the model again", at_,
                  problem);
    return false;
  }

  bool word(uint32_t* value, const char* what) {
    if (at_ >= count()) return damaged("%s is behind the end", what);
    *value = program_.words_[at_++];
    return true;
  }

  // A number below `below`.
  bool number(uint32_t* value, size_t below, const char* what) {
    if (!word(value, what)) return false;
    if (*value < below) return true;
    --at_;
    return damaged("%s %u found, below %zu needed", what, *value, below);
  }

  // The number of entries, each of which has at least so many words.
  bool entries(uint32_t* value, size_t words_each, const char* what) {
    if (!word(value, what)) return false;
    if (*value <= (count() - at_) / words_each) return true;
    --at_;
    return damaged("%u %s don't fit into the words", *value, what);
  }

  bool wide(uint64_t* value, const char* what) {
    uint32_t low = 0, high = 0;
    if (!word(&low, what) || !word(&high, what)) return false;
    *value = low | uint64_t{high} << 32;
    return true;
  }

 private:
  size_t count() const { return program_.words_.size(); }

  bool fail(const char* what) {
    std::snprintf(error_, error_bytes_, "%s; copy or convert the model again", what);
    return false;
  }

  bool fail_memory() {
    std::snprintf(error_, error_bytes_, "memory is short for the program's constants; free some memory");
    return false;
  }

  static uint32_t decode(const uint8_t* bytes) {
    return bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
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
    for (size_t i = 0; i < word_count; ++i) program_.words_[i] = decode(data_ + i * sizeof(uint32_t));
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
    at_ = format::kHeaderWords;
    return true;
  }

  bool read_strings() {
    uint32_t strings = 0;
    if (!entries(&strings, 1, "strings")) return false;
    std::vector<uint32_t> lengths(strings);
    size_t bytes = 0;
    for (uint32_t& length : lengths) {
      if (!word(&length, "a string's length")) return false;
      bytes += length;
      if (bytes > count() * sizeof(uint32_t)) return damaged("strings are longer than the words");
    }
    const size_t words = (bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    if (words > count() - at_) return damaged("strings are longer than the words");
    const uint8_t* from = data_ + at_ * sizeof(uint32_t);
    program_.text_.reserve(bytes + strings);
    program_.strings_.reserve(strings);
    for (const uint32_t length : lengths) {
      const uint8_t* const end = from + length;
      program_.strings_.push_back(static_cast<uint32_t>(program_.text_.size()));
      program_.text_.insert(program_.text_.end(), from, end);
      program_.text_.push_back('\0');
      while (from < end) {
        const size_t sign = *from == 0 ? 0 : nnapi_convert::sign_bytes(from, end);
        if (sign == 0) return damaged("string %zu is not UTF-8", program_.strings_.size() - 1);
        from += sign;
      }
    }
    for (; from < data_ + (at_ + words) * sizeof(uint32_t); ++from) {
      if (*from != 0) return damaged("strings are filled up with something else than zeros");
    }
    at_ += words;
    return true;
  }

  bool read_operators() {
    uint32_t operators = 0;
    if (!entries(&operators, 1, "operators")) return false;
    for (uint32_t i = 0; i < operators; ++i) {
      uint32_t name = 0;
      if (!number(&name, program_.strings_.size(), "an operator's name")) return false;
      const char* text = program_.string(name);
      const OperatorRow* row = find_operator(text, std::strlen(text));
      if (row == nullptr) {
        std::snprintf(error_, error_bytes_,
                      "the model calls %.120s, which this runtime does not know; use a newer runtime, or run the file "
                      "with PyTorch",
                      text);
        return false;
      }
      program_.operator_names_.push_back(name);
      program_.operators_.push_back(row);
    }
    return true;
  }

  bool read_constants() {
    uint32_t constants = 0;
    if (!entries(&constants, 1, "constants")) return false;
    program_.constants_.reserve(constants);
    for (uint32_t i = 0; i < constants; ++i) {
      uint32_t kind = 0, depth = 0;
      Value value;
      if (!number(&kind, static_cast<uint32_t>(ConstantKind::kDevice) + 1, "a constant's kind")) return false;
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
        if (!number(&small, 2, "a bool")) return false;
        *value = Value(small == 1);
        return true;
      case ConstantKind::kInt:
        if (!wide(&bits, "an int")) return false;
        *value = Value(static_cast<int64_t>(bits));
        return true;
      case ConstantKind::kFloat: {
        if (!wide(&bits, "a float")) return false;
        double real = 0;
        std::memcpy(&real, &bits, sizeof real);
        *value = Value(real);
        return true;
      }
      case ConstantKind::kString: {
        if (!number(&small, program_.strings_.size(), "a string")) return false;
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
    return damaged("an unknown kind of constant");
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
    if (!number(&code, static_cast<uint32_t>(ScalarType::kBool) + 1, "a dtype")) return false;
    if (code > static_cast<uint32_t>(ScalarType::kFloat64) && code < static_cast<uint32_t>(ScalarType::kBool)) {
      return damaged("dtype %u is none of a program's", code);
    }
    const auto dtype = static_cast<ScalarType>(code);
    if (!number(&rank, kMostAxes + 1, "a tensor's rank")) return false;
    uint64_t bytes = element_bytes(dtype);
    for (uint32_t i = 0; i < rank; ++i) {
      uint64_t size = 0;
      if (!wide(&size, "a tensor's size")) return false;
      if (size > INT64_MAX || __builtin_mul_overflow(bytes, size, &bytes) || bytes > PTRDIFF_MAX) {
        return damaged("a tensor is larger than memory");
      }
      sizes[i] = static_cast<int64_t>(size);
    }
    if (!wide(&begin, "a tensor's place")) return false;
    if (begin > tensor_bytes_ || bytes > tensor_bytes_ - begin || begin % format::kDataAlignment != 0) {
      return damaged("a tensor is outside of the data, or not aligned");
    }
    if (dtype == ScalarType::kBool) {
      for (uint64_t i = 0; i < bytes; ++i) {
        if (tensors_[begin + i] > 1) return damaged("a bool tensor holds %u", tensors_[begin + i]);
      }
    }
    Tensor* tensor = make_borrowed(program_.pool_, dtype, rank, sizes, tensors_ + begin, static_cast<size_t>(bytes));
    if (tensor == nullptr) return fail_memory();
    tensor->storage->pool = nullptr;
    return keep(tensor, value);
  }

  bool read_sequence(Tag tag, uint32_t each, Value* value, uint32_t* depth) {
    uint32_t elements = 0;
    if (!entries(&elements, each, "elements")) return false;
    Sequence* sequence = make_sequence(program_.pool_, tag, elements * each);
    if (!keep(sequence, value)) return false;
    for (uint32_t i = 0; i < elements * each; ++i) {
      uint32_t element = 0;
      if (!number(&element, program_.constants_.size(), "an earlier constant")) return false;
      if (tag == Tag::kDict && i % 2 == 0 && !is_key(program_.constants_[element])) {
        return damaged("a key of a dict is %s", kind_name(program_.constants_[element]));
      }
      sequence->values[i] = program_.constants_[element];
      *depth = std::max(*depth, depths_[element] + 1);
    }
    return *depth <= format::kMostDepth || damaged("constants are nested deeper than %u", format::kMostDepth);
  }

  static bool is_key(const Value& value) {
    return value.tag() == Tag::kString || value.tag() == Tag::kInt || value.tag() == Tag::kFloat ||
           value.tag() == Tag::kBool;
  }

  bool read_state() {
    if (!number(&program_.state_, program_.constants_.size(), "the state")) return false;
    return program_.constants_[program_.state_].tag() == Tag::kObject || damaged("the state is no object");
  }

  bool read_segments() {
    uint32_t segments = 0;
    if (!entries(&segments, 2, "segments")) return false;
    for (uint32_t i = 0; i < segments; ++i) {
      SegmentCounts counts{};
      if (!number(&counts.inputs, kMostOfSegment, "a segment's inputs") ||
          !number(&counts.outputs, kMostOfSegment, "a segment's outputs")) {
        return false;
      }
      program_.segments_.push_back(counts);
    }
    return true;
  }

  bool string(const char** text, const char* what) {
    uint32_t number_of = 0;
    if (!number(&number_of, program_.strings_.size(), what)) return false;
    *text = program_.string(number_of);
    return true;
  }

  bool type(Type* type) {
    const char* text = nullptr;
    if (!string(&text, "a type")) return false;
    return parse_type(text, type) || damaged("type %.100s can't be read", text);
  }

  bool read_methods();
  bool read_method(CodeChecker& checker, Method* method);

  static constexpr uint32_t kMostOfSegment = 4096;

  Program& program_;
  const uint8_t* const data_;
  const size_t bytes_;
  char* const error_;
  const size_t error_bytes_;
  const uint8_t* tensors_ = nullptr;
  uint64_t tensor_bytes_ = 0;
  size_t at_ = 0;
  std::vector<uint32_t> depths_;  // of constants
};

// Checks the code of methods: all numbers, the lengths of blocks, and that registers are written before they are read.
class Program::CodeChecker {
 public:
  explicit CodeChecker(Reader& reader) : reader_(reader) {}

  bool check(Method* method) {
    method_ = method;
    if (defined_.size() < method->registers) defined_.resize(method->registers, 0);
    changes_.clear();
    for (uint32_t i = 0; i < method->arguments.size(); ++i) set(i, true);
    bool is_good = check_block(method->code_words, 0);
    const size_t end = reader_.at();
    is_good = is_good && check_operand(method->result);
    undo(0);
    reader_.skip_to(end);
    return is_good;
  }

  bool operand(uint32_t* value) { return reader_.word(value, "an operand"); }

 private:
  struct Change {
    uint32_t number;
    bool was;
  };

  void set(uint32_t number, bool is_defined) {
    if ((defined_[number] != 0) == is_defined) return;
    changes_.push_back({number, defined_[number] != 0});
    defined_[number] = is_defined ? 1 : 0;
  }

  void undo(size_t begin) {
    while (changes_.size() > begin) {
      defined_[changes_.back().number] = changes_.back().was ? 1 : 0;
      changes_.pop_back();
    }
  }

  // Ends a block that began with the change `begin`: its registers count no more, those that it dropped are added.
  void leave(size_t begin, std::vector<uint32_t>* dropped) {
    std::vector<uint32_t> undefined;
    for (size_t i = begin; i < changes_.size(); ++i) {
      if (defined_[changes_[i].number] == 0) undefined.push_back(changes_[i].number);
    }
    undo(begin);
    for (const uint32_t number : undefined) {
      if (defined_[number] != 0) dropped->push_back(number);
    }
  }

  bool check_operand(uint32_t value) {
    if ((value & format::kConstantBit) != 0) {
      const size_t constants = reader_.program().constants_.size();
      value &= ~format::kConstantBit;
      return value < constants || reader_.damaged("constant %u found, below %zu needed", value, constants);
    }
    if (value >= method_->registers) {
      return reader_.damaged("register %u found, below %u needed", value, method_->registers);
    }
    return defined_[value] != 0 || reader_.damaged("register %u is read before it is written", value);
  }

  bool read_operand() {
    uint32_t value = 0;
    return operand(&value) && check_operand(value);
  }

  bool read_operands(uint32_t count) {
    method_->most_inputs = std::max(method_->most_inputs, count);
    for (uint32_t i = 0; i < count; ++i) {
      if (!read_operand()) return false;
    }
    return true;
  }

  bool read_register(uint32_t* number) { return reader_.number(number, method_->registers, "a register"); }

  bool read_results(uint32_t count) {
    method_->most_outputs = std::max(method_->most_outputs, count);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t number = 0;
      if (!read_register(&number)) return false;
      set(number, true);
    }
    return true;
  }

  bool check_block(size_t words, uint32_t depth) {
    if (depth > format::kMostDepth) return reader_.damaged("blocks are nested deeper than %u", format::kMostDepth);
    const size_t count = reader_.program().words_.size();
    if (reader_.at() > count || words > count - reader_.at())
      return reader_.damaged("a block is longer than the words");
    const size_t end = reader_.at() + words;
    while (reader_.at() < end) {
      if (!check_instruction(depth)) return false;
    }
    return reader_.at() == end || reader_.damaged("a block ends within an instruction");
  }

  bool check_instruction(uint32_t depth) {
    uint32_t first = 0, count = 0;
    if (!reader_.word(&first, "an instruction")) return false;
    if (first >> 8 > reader_.program().strings_.size()) return reader_.damaged("an instruction's place is no string");
    switch (static_cast<Opcode>(first & 0xff)) {
      case Opcode::kOperator:
        return check_operator();
      case Opcode::kIf:
        return check_if(depth);
      case Opcode::kLoop:
        return check_loop(depth);
      case Opcode::kSegment:
        return check_segment();
      case Opcode::kList:
      case Opcode::kTuple:
        return reader_.entries(&count, 1, "elements") && read_operands(count) && read_results(1);
      case Opcode::kDict:
        return reader_.entries(&count, 2, "pairs") && read_operands(2 * count) && read_results(1);
      case Opcode::kObject:
        return reader_.number(&count, kMostFields, "fields") && read_results(1);
      case Opcode::kGetField:
        return read_operand() && reader_.word(&count, "a field") && read_results(1);
      case Opcode::kSetField:
        return read_operand() && reader_.word(&count, "a field") && read_operand();
      case Opcode::kGetState:
        return read_results(1);
      case Opcode::kUnpack:
        return read_operand() && reader_.entries(&count, 1, "elements") && read_results(count);
      case Opcode::kRaise:
        return read_operand();
      case Opcode::kDrop:
        return check_drop();
      case Opcode::kRawSegment:
        return check_raw_segment();
    }
    return reader_.damaged("opcode %u is unknown", first & 0xff);
  }

  bool check_operator() {
    uint32_t number = 0, inputs = 0, outputs = 0;
    const Program& program = reader_.program();
    if (!reader_.number(&number, program.operators_.size(), "an operator")) return false;
    if (!reader_.entries(&inputs, 1, "inputs") || !reader_.entries(&outputs, 1, "outputs")) return false;
    const OperatorRow& row = program.operator_row(number);
    if ((row.inputs != kAny && row.inputs != inputs) || (row.outputs != kAny && row.outputs != outputs)) {
      return reader_.damaged("%.100s has %u inputs and %u outputs, %u and %u found", program.operator_name(number),
                             row.inputs, row.outputs, inputs, outputs);
    }
    return read_operands(inputs) && read_results(outputs);
  }

  bool check_segment() {
    uint32_t number = 0, inputs = 0, outputs = 0;
    const std::vector<SegmentCounts>& segments = reader_.program().segments_;
    if (!reader_.number(&number, segments.size(), "a segment")) return false;
    if (!reader_.word(&inputs, "inputs") || !reader_.word(&outputs, "outputs")) return false;
    const SegmentCounts& needed = segments[number];
    if (inputs != needed.inputs || outputs != needed.outputs) {
      return reader_.damaged("segment %u has %u inputs and %u outputs, %u and %u found", number, needed.inputs,
                             needed.outputs, inputs, outputs);
    }
    return read_operands(inputs) && read_results(outputs);
  }

  bool check_raw_segment() {
    uint32_t number = 0, arguments = 0, inputs = 0, outputs = 0;
    const std::vector<SegmentCounts>& segments = reader_.program().segments_;
    if (!reader_.number(&number, segments.size(), "a segment")) return false;
    if (!reader_.entries(&arguments, 1, "arguments") || !reader_.entries(&inputs, 1, "inputs") ||
        !reader_.entries(&outputs, 1, "outputs")) {
      return false;
    }
    if (arguments != segments[number].inputs || outputs != segments[number].outputs) {
      return reader_.damaged("segment %u has %u inputs and %u outputs, %u and %u found", number,
                             segments[number].inputs, segments[number].outputs, arguments, outputs);
    }
    return read_operands(arguments + inputs) && read_results(outputs);
  }

  bool check_drop() {
    uint32_t count = 0;
    if (!reader_.entries(&count, 1, "registers")) return false;
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t number = 0;
      if (!read_register(&number)) return false;
      set(number, false);
    }
    return true;
  }

  bool check_if(uint32_t depth) {
    uint32_t count = 0, lengths[2] = {0, 0};
    if (!read_operand() || !reader_.entries(&count, 3, "outputs")) return false;
    if (!reader_.word(&lengths[0], "a block's length") || !reader_.word(&lengths[1], "a block's length")) return false;
    method_->most_outputs = std::max(method_->most_outputs, count);
    const size_t registers = reader_.at(), begin = changes_.size();
    std::vector<uint32_t> dropped;
    size_t code = registers + size_t{3} * count;
    for (uint32_t branch = 0; branch < 2; ++branch) {
      reader_.skip_to(code);
      if (!check_block(lengths[branch], depth + 1)) return false;
      code = reader_.at();
      reader_.skip_to(registers + (branch + size_t{1}) * count);
      for (uint32_t i = 0; i < count; ++i) {
        if (!read_operand()) return false;
      }
      leave(begin, &dropped);
    }
    for (const uint32_t number : dropped) set(number, false);
    reader_.skip_to(registers);
    if (!read_results(count)) return false;
    reader_.skip_to(code);
    return true;
  }

  bool check_loop(uint32_t depth) {
    uint32_t count = 0, length = 0;
    if (!read_operand() || !read_operand()) return false;
    if (!reader_.entries(&count, 4, "carried values") || !reader_.word(&length, "a block's length")) return false;
    if (!read_operands(count)) return false;
    const size_t results = reader_.at(), begin = changes_.size();
    reader_.skip_to(results + count);
    if (!read_results(count + 1)) return false;
    const size_t given = reader_.at();
    reader_.skip_to(given + 1 + count);
    if (!check_block(length, depth + 1)) return false;
    const size_t end = reader_.at();
    reader_.skip_to(given);
    for (uint32_t i = 0; i < count + 1; ++i) {
      if (!read_operand()) return false;
    }
    std::vector<uint32_t> dropped;
    leave(begin, &dropped);
    if (!dropped.empty()) return reader_.damaged("a loop's body drops register %u, which is from outside", dropped[0]);
    reader_.skip_to(results);
    if (!read_results(count)) return false;
    reader_.skip_to(end);
    return true;
  }

  static constexpr uint32_t kMostFields = 1u << 16;

  Reader& reader_;
  Method* method_ = nullptr;
  std::vector<uint8_t> defined_;  // by register: 1 or 0
  std::vector<Change> changes_;   // of `defined_`, in their order
};

bool Program::Reader::read_methods() {
  uint32_t methods = 0;
  if (!entries(&methods, 6, "methods")) return false;
  if (methods == 0) return damaged("the program has no method");
  CodeChecker checker(*this);
  program_.methods_.reserve(methods);
  for (uint32_t i = 0; i < methods; ++i) {
    program_.methods_.emplace_back();
    Method& method = program_.methods_.back();
    if (!read_method(checker, &method)) return false;
    if (program_.find_method(method.name) != &method) return damaged("two methods have the name %.100s", method.name);
  }
  return true;
}

bool Program::Reader::read_method(CodeChecker& checker, Method* method) {
  uint32_t arguments = 0;
  if (!string(&method->name, "a method's name")) return false;
  if (!number(&method->registers, format::kMostRegisters + 1, "a method's registers")) return false;
  if (!entries(&arguments, 3, "arguments")) return false;
  if (arguments > method->registers) return damaged("%u arguments are more than the registers", arguments);
  for (uint32_t i = 0; i < arguments; ++i) {
    Argument argument{};
    uint32_t fallback = 0;
    if (!string(&argument.name, "an argument's name") || !type(&argument.type)) return false;
    if (!number(&fallback, program_.constants_.size() + 1, "a default")) return false;
    argument.has_default = fallback > 0;
    if (fallback > 0) argument.default_value = program_.constants_[fallback - 1];
    method->arguments.push_back(std::move(argument));
  }
  if (!type(&method->result_type) || !checker.operand(&method->result)) return false;
  if (!word(&method->code_words, "the words of a method's code")) return false;
  method->code_begin = static_cast<uint32_t>(at_);
  return checker.check(method);
}

std::unique_ptr<const Program> Program::parse(const uint8_t* data, size_t bytes, char* error, size_t error_bytes) {
  std::unique_ptr<Program> program(new Program());
  Reader reader(*program, data, bytes, error, error_bytes);
  if (!reader.read_all()) return nullptr;
  return program;
}

const Method* Program::find_method(const char* name) const {
  for (const Method& method : methods_) {
    if (std::strcmp(method.name, name) == 0) return &method;
  }
  return nullptr;
}

namespace {

// Copies values of constants into a call's memory. What two refer to is one again.
class StateMaker {
 public:
  explicit StateMaker(Pool& pool) : pool_(pool) {}

  bool copy(const Value& from, Value* to) {
    if (from.tag() < Tag::kTensor) {
      *to = from;
      return true;
    }
    for (const Copy& known : copies_) {
      if (known.from != from.object()) continue;
      *to = known.to;
      return true;
    }
    return from.is_tensor() ? copy_tensor(from.tensor(), to) : copy_sequence(from.sequence(), to);
  }

 private:
  struct Copy {
    const Object* from;
    Value to;
  };

  bool copy_tensor(const Tensor& from, Value* to) {
    Tensor* made = make_tensor(pool_, from.dtype, from.rank, from.sizes);
    if (made == nullptr) return false;
    copy_elements(from, *made);
    *to = Value(made);
    copies_.push_back({&from.head, *to});
    return true;
  }

  bool copy_sequence(const Sequence& from, Value* to) {
    Sequence* made = make_sequence(pool_, from.head.tag, from.count);
    if (made == nullptr) return false;
    *to = Value(made);
    for (uint32_t i = 0; i < from.count; ++i) {
      if (!copy(from.values[i], &made->values[i])) return false;
    }
    copies_.push_back({&from.head, *to});
    return true;
  }

  Pool& pool_;
  std::vector<Copy> copies_;
};

}  // namespace

bool Program::make_state(Context& context, Value* state) const {
  return StateMaker(context.pool).copy(constants_[state_], state);
}

}  // namespace nnapi_shim::program
